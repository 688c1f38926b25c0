package fleet_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

var errBroken = errors.New("it is broken")

// TestRejectedObjects: an object that a source, or a transform, rejects stays as it was, is
// reported by its key with the cluster, and counts as deleted only when it is.
func TestRejectedObjects(t *testing.T) {
	key, composite := index.Key{Namespace: "ns", Name: "b"}, fleet.Key("east", "ns", "b")
	reject := map[string]func(w *world, listed bool) []source.Staged{
		"by the source": func(w *world, listed bool) []source.Staged {
			w.of("east").Report(&source.RejectedError{Key: key, ResourceVersion: "9", Listed: listed, Err: errBroken})
			return []source.Staged{source.Reject(key)}
		},
		"by the transform": func(w *world, listed bool) []source.Staged {
			broken := at("b", 9)
			broken.Labels["broken"] = "true"
			if !listed {
				sinktest.Put(w.of("east"), broken, "9")
				return nil
			}
			return []source.Staged{w.of("east").Stage(broken, "9")}
		},
	}
	for name, reject := range reject {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				w := prepareWorld(t, []string{"east", "west"})
				w.Informer = typed.NewInformer(w.source, typed.WithTransform(func(obj inCluster) (inCluster, error) {
					if obj.Object.Labels["broken"] != "" {
						return obj, errBroken
					}
					return obj, nil
				}))
				w.start()
				w.list("east", 5, at("a", 1), at("b", 2))
				w.list("west", 5, at("b", 1))
				w.next()

				reject(w, false)
				assert.Empty(t, w.next())
				require.NotNil(t, w.Rejected(composite))
				assert.ErrorIs(t, w.Rejected(composite), errBroken)
				assert.NoError(t, w.source.Status()[0].Err, "that is no failure of the cluster")

				for range 2 {
					listed := append(sinktest.StageAll(w.of("east"), at("a", 1)), reject(w, true)...)
					w.of("east").Replace(source.List{Items: listed}, "6")
					assert.Equal(t, []string{"Updated Relisted east/ns/a@1"}, w.next())
					assert.NotNil(t, w.Rejected(composite))
					assert.Equal(t, 2, w.status("east").Objects)
				}
				w.list("east", 7, at("a", 1))
				assert.Equal(t, []string{"Deleted Relisted east/ns/b@2", "Updated Relisted east/ns/a@1"}, w.next())
				assert.Nil(t, w.Rejected(composite))

				reject(w, true) // of a list that is cut
				w.list("east", 8)
				w.next()
				assert.Nil(t, w.Rejected(composite), "it is gone")

				w.of("east").Replace(source.List{Items: reject(w, true)}, "9")
				w.next()
				require.NotNil(t, w.Rejected(composite), "it never was there")
				w.clusters.Remove("east")
				w.next()
				assert.Nil(t, w.Rejected(composite), "it has left with its cluster")
				assert.Equal(t, 0, w.Status().RejectedNow)
			})
		})
	}
}

// TestRejectedAndBack: what is received again in a state that can be used is not rejected.
func TestRejectedAndBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east"})
		w.list("east", 5, at("a", 1))
		w.of("east").Report(&source.RejectedError{Key: index.Key{Namespace: "ns", Name: "b"}, Err: errBroken})
		sinktest.Put(w.of("east"), at("b", 6), "6")
		w.next()
		assert.Equal(t, 0, w.Status().RejectedNow)
		w.of("east").Report(&source.RejectedError{Key: index.Key{Namespace: "ns", Name: "b"}, Err: errBroken})
		w.of("east").Report(&source.RejectedError{Key: index.Key{Namespace: "ns", Name: "b"}})
		assert.Empty(t, w.next())
		assert.Equal(t, 0, w.Status().RejectedNow)
		w.list("east", 7)
		assert.Equal(t, []string{"Deleted Relisted east/ns/a@1", "Deleted Relisted east/ns/b@6"}, w.next())
		sinktest.Put(w.of("east"), nil, "8")
		sinktest.Replace(w.of("east"), "", []*corev1.Pod{nil, at("a", 9)}, "9")
		assert.Equal(t, []string{"Added Relisted east/ns/a@9"}, w.next())
		assert.Equal(t, 4, w.Status().Rejected)
	})
}

// TestRejectedByAWatch: an object that is rejected while other clusters are listed is reported after
// the sync as well, and none that is rejected after its cluster was removed.
func TestRejectedByAWatch(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		east, key := w.of("east"), fleet.Key("east", "ns", "a")
		w.list("east", 5, at("a", 1))
		rejected := &source.RejectedError{Key: index.Key{Namespace: "ns", Name: "a"}, ResourceVersion: "6", Err: errBroken}
		go east.Report(rejected) // it waits for the sync, as changes do
		synctest.Wait()
		w.list("west", 6)
		assert.Equal(t, []string{"Added Initial east/ns/a@1"}, w.next())
		require.NotNil(t, w.Rejected(key), "a@1 is not its last state")
		assert.ErrorIs(t, w.Rejected(key), errBroken)

		w.clusters.Remove("east")
		w.next()
		assert.Nil(t, w.Rejected(key))
		east.Report(rejected)
		assert.Nil(t, w.Rejected(key))
	})
}
