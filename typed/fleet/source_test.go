package fleet_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

var errDown = errors.New("no route to host")

// TestOneStore: objects of all clusters are in one store, even if they have the same name.
func TestOneStore(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1), at("b", 2))
		assert.False(t, w.isSynced(), "west has said nothing")
		w.list("west", 900, at("a", 7))
		assert.True(t, w.isSynced())
		assert.Equal(t, []string{"Added Initial east/ns/a@1", "Added Initial east/ns/b@2", "Added Initial west/ns/a@7"}, w.next())
		sinktest.Put(w.of("east"), at("a", 6), "6")
		sinktest.Delete(w.of("west"), at("a", 901), "901")
		assert.Equal(t, []string{"Deleted Watched west/ns/a@901", "Updated Watched east/ns/a@6"}, w.next())
		assert.Equal(t, []string{"east/ns/a@6", "east/ns/b@2"}, w.keys())

		got, ok := w.Get(fleet.Key("east", "ns", "a"))
		require.True(t, ok)
		assert.Equal(t, "east", got.Cluster())
		assert.Equal(t, "ns", got.Namespace())
		assert.Equal(t, "6", got.Object.ResourceVersion)
		sinktest.Remove(w.of("east"), index.Key{Namespace: "ns", Name: "b"}, index.Watched, "7")
		assert.Equal(t, []string{"Deleted Watched east/ns/b@2"}, w.next())
	})
}

// TestClustersDoNotWaitForEachOther: the first sync waits for a cluster that says nothing for the
// time of patience, and not at all for one that fails.
func TestClustersDoNotWaitForEachOther(t *testing.T) {
	t.Run("that is silent", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			begun := time.Now()
			w := newWorld(t, []string{"east", "west"}, fleet.WithPatience(3*time.Second))
			w.list("east", 5, at("a", 1))
			assert.ErrorContains(t, w.Status().Err, "waits for cluster west")
			<-w.Synced()
			assert.Equal(t, 3*time.Second, time.Since(begun))
			assert.NoError(t, w.Status().Err)
			w.list("west", 9, at("a", 7))
			assert.Equal(t, []string{"Added Acquired west/ns/a@7", "Added Initial east/ns/a@1"}, w.next())
		})
	})
	t.Run("that fails", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			w := newWorld(t, []string{"east", "west"})
			w.list("east", 5, at("a", 1))
			assert.False(t, w.isSynced())
			w.of("west").Report(errDown)
			assert.True(t, w.isSynced())
			err := w.Status().Err
			assert.ErrorIs(t, err, errDown)
			assert.EqualError(t, err, "cluster west: no route to host")
			w.list("west", 9)
			synctest.Wait()
			assert.NoError(t, w.Status().Err)
		})
	})
	t.Run("unless there is no other", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			w := newWorld(t, []string{"east", "west"})
			w.of("east").Report(errDown)
			w.of("west").Report(errDown)
			time.Sleep(time.Hour)
			assert.False(t, w.isSynced(), "an empty informer would say that there is nothing")
			assert.EqualError(t, w.Status().Err, "cluster east: no route to host\ncluster west: no route to host")
			w.list("west", 9, at("a", 9))
			assert.True(t, w.isSynced())
		})
	})
	t.Run("or all are waited for", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			w := newWorld(t, []string{"east", "west"}, fleet.WithAllListed())
			w.list("east", 5, at("a", 1))
			w.of("west").Report(errDown)
			time.Sleep(time.Hour)
			assert.False(t, w.isSynced())
			w.clusters.Remove("west")
			assert.True(t, w.isSynced())
		})
	})
	t.Run("and an empty set is synced", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			assert.True(t, newWorld(t, nil).isSynced())
		})
	})
}

// TestClustersComeAndGo: the objects of a cluster that joins are acquired, those of one that
// leaves released, each in one step, and no others change.
func TestClustersComeAndGo(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east"})
		w.list("east", 5, at("a", 1))
		w.next()
		steps := follow(t, w.Informer)
		require.NoError(t, w.clusters.Add(fleet.Cluster{Name: "west"}))
		w.list("west", 7, at("a", 3), at("b", 4))
		assert.Equal(t, []string{"Added Acquired west/ns/a@3", "Added Acquired west/ns/b@4"}, w.next())
		sinktest.Put(w.of("west"), at("c", 8), "8")
		assert.Equal(t, []string{"Added Watched west/ns/c@8"}, w.next())
		old := w.of("west")
		w.clusters.Remove("west")
		assert.Equal(t, []string{"Deleted Released west/ns/a@3", "Deleted Released west/ns/b@4", "Deleted Released west/ns/c@8"}, w.next())
		assert.Equal(t, []int{2, 1, 3}, *steps)
		_, ok := w.source.StatusOf("west")
		assert.False(t, ok)
		sinktest.Put(old, at("late", 9), "9")
		sinktest.Replace(old, "", []*corev1.Pod{at("late", 9)}, "9")
		sinktest.Bookmark(old, "99")
		assert.Empty(t, w.next())
		assert.Equal(t, []string{"east/ns/a@1"}, w.keys())
		assert.Equal(t, "east=5", w.ResourceVersion())
	})
}

// TestAClusterThatReturnsAtOnce: a cluster that leaves and returns before the source looks has
// left.
func TestAClusterThatReturnsAtOnce(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east"})
		w.list("east", 5, at("a", 1))
		w.next()
		first := w.scriptOf("east")
		w.clusters.Remove("east")
		require.NoError(t, w.clusters.Add(fleet.Cluster{Name: "east"}))
		assert.Equal(t, []string{"Deleted Released east/ns/a@1"}, w.next())
		assert.Error(t, first.ctx.Err())
		w.list("east", 5, at("a", 1))
		assert.Equal(t, []string{"Added Acquired east/ns/a@1"}, w.next())
	})
}

// TestAClusterThatChanges: its objects stay, and are compared with the new list.
func TestAClusterThatChanges(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east"})
		w.list("east", 5, at("a", 1), at("b", 2))
		w.next()
		first := w.scriptOf("east")
		require.NoError(t, w.clusters.Put(fleet.Cluster{Name: "east"}))
		assert.Empty(t, w.next())
		assert.Error(t, first.ctx.Err())
		sinktest.Put(first.sink, at("late", 9), "9")
		w.list("east", 6, at("b", 2), at("c", 6))
		assert.Equal(t, []string{"Added Relisted east/ns/c@6", "Deleted Relisted east/ns/a@1", "Updated Relisted east/ns/b@2"}, w.next())
	})
}

// TestRelist compares the list of a cluster with the objects of that one.
func TestRelist(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1), at("b", 2))
		w.list("west", 5, at("a", 1), at("b", 2))
		w.next()
		w.list("west", 8, at("b", 6))
		assert.Equal(t, []string{"Deleted Relisted west/ns/a@1", "Updated Relisted west/ns/b@6"}, w.next())
		assert.Equal(t, []string{"east/ns/a@1", "east/ns/b@2", "west/ns/b@6"}, w.keys())
		assert.Equal(t, "east=5;west=8", w.ResourceVersion())
		w.list("west", 9)
		assert.Equal(t, []string{"Deleted Relisted west/ns/b@6"}, w.next())
	})
}

// TestChangesWaitForTheFirstSync: what comes after a list does not go before the others'.
func TestChangesWaitForTheFirstSync(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1))
		sink := w.of("east")
		put := make(chan struct{})
		go func() {
			sinktest.Put(sink, at("b", 6), "6")
			close(put)
		}()
		assert.Empty(t, w.next())
		w.list("west", 3)
		<-put
		assert.Equal(t, []string{"Added Initial east/ns/a@1", "Added Watched east/ns/b@6"}, w.next())
	})
}

// TestExpiry: the objects of a cluster that has failed for long are released, and come
// again when it works.
func TestExpiry(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"}, fleet.WithExpiry(time.Minute))
		w.list("east", 5, at("a", 1))
		w.list("west", 5, at("a", 1))
		w.next()
		w.of("west").Report(errDown)
		time.Sleep(59 * time.Second)
		w.of("west").Report(nil)
		w.of("west").Report(errDown)
		time.Sleep(59 * time.Second)
		assert.Empty(t, w.next(), "it has worked in between")
		s := w.status("west")
		assert.Equal(t, fleet.PhaseStale, s.Phase)
		assert.True(t, s.Stale())
		first := w.scriptOf("west")
		time.Sleep(time.Second)
		assert.Equal(t, []string{"Deleted Released west/ns/a@1"}, w.next())
		assert.Error(t, first.ctx.Err(), "its watch would not bring them back")
		assert.Equal(t, fleet.PhaseListing, w.status("west").Phase)
		assert.ErrorIs(t, w.status("west").Err, errDown)
		w.of("west").Report(errDown)
		time.Sleep(time.Hour)
		w.list("west", 8, at("a", 1))
		assert.Equal(t, []string{"Added Acquired west/ns/a@1"}, w.next())
		assert.Equal(t, fleet.PhaseSynced, w.status("west").Phase)
		w.scriptOf("west").end <- errDown
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"Deleted Released west/ns/a@1"}, w.next())
		assert.Equal(t, fleet.PhaseFailed, w.status("west").Phase)
	})
}

// TestFirstListExpires: objects of a cluster that has failed for long before the first sync are
// not in that, and come when the cluster is listed again.
func TestFirstListExpires(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"}, fleet.WithExpiry(time.Minute), fleet.WithPatience(0))
		w.list("west", 5, at("a", 1))
		w.of("west").Report(errDown)
		time.Sleep(time.Minute)
		w.list("east", 5, at("a", 1))
		assert.Equal(t, []string{"Added Initial east/ns/a@1"}, w.next())
		w.list("west", 8, at("a", 2))
		assert.Equal(t, []string{"Added Acquired west/ns/a@2"}, w.next())
	})
}

// TestSourcesThatEnd: one that ends takes no other with it.
func TestSourcesThatEnd(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1))
		w.list("west", 5, at("a", 1))
		w.next()
		w.scriptOf("west").end <- errDown
		s := w.status("west")
		assert.Equal(t, fleet.PhaseFailed, s.Phase)
		assert.EqualError(t, s.Err, "cluster west: source has ended: no route to host")
		w.scriptOf("east").end <- nil
		assert.Equal(t, fleet.PhaseEnded, w.status("east").Phase)
		assert.NoError(t, w.status("east").Err)
		assert.Empty(t, w.next())
		assert.Len(t, w.keys(), 2)
		assert.ErrorIs(t, w.Status().Err, errDown)

		require.NoError(t, w.clusters.Put(fleet.Cluster{Name: "west"}))
		w.list("west", 5, at("a", 2))
		assert.Equal(t, fleet.PhaseSynced, w.status("west").Phase)
		assert.NoError(t, w.Status().Err)
	})
}

// TestStatus reports each cluster.
func TestStatus(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east", "west"})
		assert.Equal(t, []fleet.ClusterStatus{{Cluster: "east"}, {Cluster: "west"}}, w.source.Status())
		w.start()
		begun := time.Now()
		assert.Equal(t, []fleet.ClusterStatus{{Cluster: "east", Phase: fleet.PhaseListing}, {Cluster: "west", Phase: fleet.PhaseListing}}, w.source.Status())
		w.of("east").Progress(1, 3)
		w.of("west").Progress(2, 5)
		s := w.Status()
		assert.Equal(t, []int{3, 8}, []int{s.Received, s.Expected})
		w.list("east", 5, at("a", 1), at("b", 1))
		time.Sleep(time.Second)
		w.of("west").Report(errDown)
		w.of("west").Report(errDown)
		failed := &fleet.ClusterError{Cluster: "west", Err: errDown}
		synctest.Wait()
		assert.Equal(t, []fleet.ClusterStatus{
			{Cluster: "east", Phase: fleet.PhaseSynced, Objects: 2, ResourceVersion: "5", Received: 1, Expected: 3, Lists: 1, LastContact: begun.Add(time.Second)},
			{Cluster: "west", Phase: fleet.PhaseListing, Received: 2, Expected: 5, LastContact: begun, Err: failed, Failures: 2, Since: begun.Add(time.Second), LastErr: failed},
		}, w.source.Status())
		time.Sleep(time.Second)
		w.list("west", 7)
		assert.Equal(t, fleet.ClusterStatus{
			Cluster: "west", Phase: fleet.PhaseSynced, ResourceVersion: "7", Received: 2, Expected: 5, Lists: 1, LastContact: begun.Add(2 * time.Second), LastErr: failed,
		}, w.status("west"))
		w.stop()
		synctest.Wait()
		assert.Equal(t, report.PhaseStopped, w.Phase())
		assert.Equal(t, fleet.PhaseSynced, w.status("east").Phase, "it stays as it was")
	})
}

// TestCluster of one, made of namespaces: a source of several works in a fleet.
func TestNamespacesOfClusters(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		scripts := map[string]*script{}
		namespaces := source.NewNamespaces("blue")
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east"})
		require.NoError(t, err)
		w := &world{t: t, complain: t, clusters: clusters, told: map[index.Key]inCluster{}}
		w.source = fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] {
			return source.FromNamespaces(namespaces, func(namespace string) source.Source[*corev1.Pod] {
				s := &script{end: make(chan error, 1), started: make(chan struct{})}
				scripts[namespace] = s
				return s
			})
		})
		w.Informer = typed.NewInformer(w.source)
		w.start()
		in := func(namespace, name string) *corev1.Pod {
			obj := at(name, 1)
			obj.Namespace = namespace
			return obj
		}
		<-scripts["blue"].started
		sinktest.Replace(scripts["blue"].sink, "", []*corev1.Pod{in("blue", "a")}, "3")
		assert.Equal(t, []string{"Added Initial east/blue/a@1"}, w.next())
		require.NoError(t, namespaces.Add("red"))
		synctest.Wait()
		sinktest.Replace(scripts["red"].sink, "", []*corev1.Pod{in("red", "b"), in("red", "c")}, "4")
		assert.Equal(t, []string{"Added Relisted east/red/b@1", "Added Relisted east/red/c@1"}, w.next())
		assert.Equal(t, 3, w.status("east").Objects)
		sinktest.Replace(scripts["red"].sink, "", []*corev1.Pod{in("red", "c")}, "5")
		assert.Equal(t, []string{"Deleted Relisted east/red/b@1", "Updated Relisted east/red/c@1"}, w.next())
		namespaces.Remove("blue")
		assert.Equal(t, []string{"Deleted OutOfScope east/blue/a@1"}, w.next())
		assert.Equal(t, 1, w.status("east").Objects)
		clusters.Remove("east")
		assert.Equal(t, []string{"Deleted Released east/red/c@1"}, w.next())
	})
}

// steps is a follower that counts the events of each step.
type steps struct {
	typed.Follower[inCluster]
	sizes []int
}

func (s *steps) Begin(*index.Snapshot[inCluster]) {}
func (s *steps) Synced()                          {}
func (s *steps) Report(error)                     {}
func (s *steps) End(error)                        {}
func (s *steps) Step(events []typed.Event[inCluster], _ string) {
	if len(events) > 0 {
		s.sizes = append(s.sizes, len(events))
	}
}

// follow returns the sizes of the steps that an informer makes from now on.
func follow(t *testing.T, informer *typed.Informer[inCluster]) *[]int {
	s := &steps{}
	_, err := informer.Follow(s)
	require.NoError(t, err)
	return &s.sizes
}
