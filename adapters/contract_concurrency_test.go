package adapters_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Handlers may be added while the informer starts: each gets everything once.
func TestContractHandlersAddedDuringStart(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		for range 20 {
			r := newRig(t, pods)
			r.script.lists("10", pod("a", "1"), pod("b", "2"))
			recs := make([]*recorder, 8)
			var wg sync.WaitGroup
			for i := range recs {
				wg.Go(func() { recs[i] = r.handle() })
			}
			r.stop, r.ended = start(t, r.SharedIndexInformer)
			wg.Wait()
			for _, rec := range recs {
				assert.Equal(t, []string{"initial ns/a@1", "initial ns/b@2"}, rec.nextSorted())
				assert.True(t, rec.handle.HasSynced())
			}
			r.halt()
		}
	})
}

func TestContractHandlersRemovedDuringStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		for range 20 {
			r := newRig(t, pods)
			r.script.lists("10", pod("a", "1"))
			r.run()
			var wg sync.WaitGroup
			for range 8 {
				rec := r.handle()
				wg.Go(func() { assert.NoError(t, cache.ShutDownEventHandler(r, rec.handle)) })
			}
			r.halt()
			wg.Wait()
		}
	})
}

// All that can be asked and done at any time, at once. The race detector is the
// judge of it.
func TestContractEverythingAtOnce(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		r.run()
		var wg sync.WaitGroup
		wg.Go(func() {
			for v := range 500 {
				p := pod(fmt.Sprint("pod-", v%10), strconv.Itoa(11+v))
				r.script.send(t, modified(p))
			}
		})
		lister := corev1listers.NewPodLister(r.GetIndexer())
		for g := range 4 {
			wg.Go(func() {
				for i := range 50 {
					name := fmt.Sprintf("%d-%d", g, i)
					assert.NoError(t, r.AddIndexers(cache.Indexers{name: cache.MetaNamespaceIndexFunc}))
					found, err := r.GetIndexer().ByIndex(name, "ns")
					assert.NoError(t, err)
					for _, obj := range found {
						assert.NotNil(t, obj)
					}
					_, err = lister.Pods("ns").List(labels.Everything())
					assert.NoError(t, err)
					assert.NoError(t, r.GetStore().Add(pod("seed-"+name, "1")))
					r.LastSyncResourceVersion()
					r.GetStore().LastStoreSyncResourceVersion()
					r.HasSynced()
					r.IsStopped()
					rec := r.handle()
					assert.NoError(t, r.RemoveEventHandler(rec.handle))
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		assert.Len(t, r.GetIndexer().GetIndexers(), 1+4*50)
		for _, name := range []string{"0-0", "3-49"} {
			keys, err := r.GetIndexer().IndexKeys(name, "ns")
			require.NoError(t, err)
			assert.Len(t, keys, 10+4*50)
		}
	})
}

// One ListerWatcher may serve several informers.
func TestContractInformersAreIndependent(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		s := &script{}
		s.lists("10", pod("a", "1"))
		one := pods(s, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
		other := pods(s, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
		stop, ended := start(t, one)
		start(t, other)
		synctest.Wait()
		stop()
		<-ended
		s.send(t, added(pod("b", "11")))
		synctest.Wait()
		assert.False(t, other.IsStopped())
		assert.True(t, other.HasSynced())
		assert.Len(t, one.GetStore().List(), 1)
	})
}
