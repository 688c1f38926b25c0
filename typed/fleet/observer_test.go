package fleet_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

var _ control.Observer = (*fleet.Observer[*corev1.Pod])(nil)

// TestExpectations: a key is put off until the informer has seen what was written to its
// cluster, whatever versions others have come to.
func TestExpectations(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1))
		w.list("west", 5, at("a", 1))
		w.next()
		q, err := queue.NewWorkQueue[index.Key]()
		require.NoError(t, err)
		expectations, err := control.NewExpectations[index.Key](q)
		require.NoError(t, err)
		handled := 0
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error {
			return q.Run(ctx, 1, expectations.Wrap(func(context.Context, index.Key) error { handled++; return nil }))
		})
		key := fleet.Key("east", "ns", "a")
		east := fleet.NewObserver(w.Informer, w.source, "east")
		add := func() int {
			before := handled
			q.Add(key)
			synctest.Wait()
			return handled - before
		}
		require.NoError(t, expectations.Expect(key, east, "7"))
		assert.Equal(t, 0, add())
		sinktest.Put(w.of("west"), at("b", 100), "100")
		sinktest.Put(w.of("east"), at("b", 6), "6")
		synctest.Wait()
		assert.Equal(t, 0, handled)
		sinktest.Put(w.of("east"), at("a", 7), "7")
		synctest.Wait()
		assert.Equal(t, 1, handled)
		require.NoError(t, expectations.Expect(key, east, "7"))
		synctest.Wait()
		assert.Equal(t, 1, add(), "it is there")

		require.NoError(t, expectations.ExpectDeleted(key, east, at("a", 7)))
		assert.Equal(t, 0, add())
		sinktest.Put(w.of("east"), at("b", 8), "8")
		synctest.Wait()
		assert.Equal(t, 2, handled)
		sinktest.Delete(w.of("east"), at("a", 9), "9")
		synctest.Wait()
		assert.Equal(t, 3, handled)

		marked := at("b", 10)
		marked.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		require.NoError(t, expectations.ExpectDeleted(key, east, fleet.In("east", at("b", 8))))
		assert.Equal(t, 0, add())
		sinktest.Put(w.of("east"), marked, "10")
		synctest.Wait()
		assert.Equal(t, 4, handled)

		require.NoError(t, expectations.Expect(key, east, "20"))
		assert.Equal(t, 0, add())
		w.clusters.Remove("east")
		synctest.Wait()
		assert.Equal(t, 5, handled, "nothing more is heard of it")
		west := fleet.NewObserver(w.Informer, w.source, "west")
		require.NoError(t, expectations.Expect(key, west, "200"))
		assert.Equal(t, 0, add())
		w.stop()
		synctest.Wait()
		assert.Equal(t, 6, handled, "the informer has stopped")
		assert.Zero(t, expectations.Stats().Expired)
		cancel()
		<-ended
	})
}

// keyed is the script of a cluster with a watch for each object.
type keyed struct {
	*script
	at *sync.Map
}

func (s keyed) At(key index.Key) string {
	version, _ := s.at.Load(key.Name)
	text, _ := version.(string)
	return text
}

// TestExpectationsOfKeysInClusters: what waits for one object of a cluster that has several
// watches does not wait for the slowest of them.
func TestExpectationsOfKeysInClusters(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w, versions := prepareWorld(t, nil), &sync.Map{}
		require.NoError(t, w.clusters.Add(fleet.Cluster{Name: "east"}))
		w.source = fleet.NewSource(w.clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
			return keyed{w.open(c).(*script), versions}
		})
		w.Informer = typed.NewInformer(w.source)
		w.start()
		w.list("east", 5, at("a", 1), at("b", 1))
		versions.Store("a", "5")
		versions.Store("b", "5")
		east := fleet.NewObserver(w.Informer, w.source, "east")
		var _ control.KeyObserver = east
		expect := func(key index.Key, version string) typed.Expected {
			e, err := east.ExpectKeyVersion(key, version)
			require.NoError(t, err)
			e.Watch(func() {})
			return e
		}
		a, b := expect(fleet.Key("east", "ns", "a"), "7"), expect(index.Key{Namespace: "ns", Name: "b"}, "7")
		sinktest.Put(w.of("east"), at("a", 7), "")
		synctest.Wait()
		assert.False(t, a.Met(), "the source has not said so")
		versions.Store("a", "7")
		w.of("east").Step(nil, "", nil)
		synctest.Wait()
		assert.True(t, a.Met())
		assert.False(t, b.Met())
		assert.True(t, a.Covers(expect(fleet.Key("east", "ns", "a"), "6")))
		assert.False(t, a.Covers(expect(fleet.Key("east", "ns", "b"), "6")))
		assert.Contains(t, b.String(), `version 7 of "east/ns/b", is at "5"`)
		sinktest.Bookmark(w.of("east"), "7")
		synctest.Wait()
		assert.True(t, b.Met(), "the slowest is there, too")
		c := expect(fleet.Key("east", "ns", "c"), "9")
		w.clusters.Remove("east")
		synctest.Wait()
		assert.True(t, c.Met(), "nothing more is heard of the cluster")
		_, err := east.ExpectKeyVersion(fleet.Key("east", "ns", "a"), "9")
		assert.ErrorIs(t, err, fleet.ErrNotMember)
		a.Unwatch()
		b.Unwatch()
	})
}

// TestBadObservers say why.
func TestBadObservers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east"})
		expect := func(cluster, version string) error {
			_, err := fleet.NewObserver(w.Informer, w.source, cluster).ExpectVersion(version)
			return err
		}
		assert.ErrorIs(t, expect("east", "5"), typed.ErrNotStarted)
		w.start()
		assert.NoError(t, expect("east", "5"))
		assert.ErrorIs(t, expect("west", "5"), fleet.ErrNotMember)
		assert.ErrorContains(t, expect("east", "soon"), `resource version "soon" is not a positive number`)
		_, err := fleet.NewObserver(w.Informer, nil, "east").ExpectVersion("5")
		assert.Error(t, err)
		_, err = fleet.NewObserver((*typed.Informer[inCluster])(nil), w.source, "east").ExpectDeleted(at("a", 1))
		assert.ErrorContains(t, err, "informer or source is nil")
		nameless := at("a", 1)
		nameless.UID = ""
		_, err = fleet.NewObserver(w.Informer, w.source, "east").ExpectDeleted(nameless)
		assert.ErrorContains(t, err, "the object has no UID")
		for _, none := range []typed.Identified{nil, (*corev1.Pod)(nil)} {
			_, err = fleet.NewObserver(w.Informer, w.source, "east").ExpectDeleted(none)
			assert.ErrorContains(t, err, "cluster east: a deletion is not expected: object is nil")
		}
		one, err := fleet.NewObserver(w.Informer, w.source, "east").ExpectDeleted(at("a", 3))
		require.NoError(t, err)
		assert.Equal(t, `cluster east: deletion of "east/ns/a" at version 3, is at ""`, one.String())
	})
}
