package kube_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFailuresOfListsAndWatchesAreCountedApart, also through a projection and a set of namespaces,
// and each once, whatever the Reflector makes of it.
func TestFailuresOfListsAndWatchesAreCountedApart(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		noList, noWatch := errors.New("no list"), errors.New("no watch")
		lists, watches := 2, 3 // that fail
		lw := &cache.ListWatch{
			//lint:ignore SA1019 programs still set it
			ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
				if lists--; lists >= 0 {
					return nil, noList
				}
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			//lint:ignore SA1019 programs still set it
			WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
				if watches--; watches >= 0 {
					return nil, noWatch
				}
				return watch.NewFake(), nil
			},
		}
		pods := typed.NewInformer(source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*corev1.Pod] {
			return source.Map(kube.FromListerWatcher[*corev1.Pod](lw, kube.WithoutWatchList()), func(p *corev1.Pod) *corev1.Pod { return p })
		}))
		rig.Start(t, pods)
		time.Sleep(time.Hour)
		synctest.Wait()
		s := pods.Status()
		assert.Equal(t, []uint64{2, 3, 5}, []uint64{s.FailedLists, s.FailedWatches, s.Failed})
		assert.ErrorIs(t, s.LastErr, noWatch)
		assert.ErrorContains(t, s.LastErr, "no watch", "in the words of the failure")
		assert.NoError(t, s.Err)
	})
}

// TestStreamedListCountsAsList: a watch that is to stream the list counts as a list. It is made
// once; the watch after the ordinary list that replaces it counts as a watch.
func TestStreamedListCountsAsList(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
		srv.Inject(apitest.Fault{Resource: "pods", Verb: "watch", Times: 2, Err: errors.New("broken")})
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		time.Sleep(time.Minute) // until the second fault is over, too
		synctest.Wait()
		s := pods.Status()
		assert.Equal(t, []uint64{1, 1, 2}, []uint64{s.FailedLists, s.FailedWatches, s.Failed})
	})
}
