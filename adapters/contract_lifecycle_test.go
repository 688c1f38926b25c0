package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

func TestContractNeverStarted(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		assert.False(t, r.HasSynced())
		assert.False(t, cache.IsDone(r.HasSyncedChecker()))
		assert.False(t, r.IsStopped())
		assert.Empty(t, r.LastSyncResourceVersion())
		assert.Empty(t, r.GetStore().LastStoreSyncResourceVersion())
		assert.Empty(t, r.GetStore().List())
		assert.False(t, rec.handle.HasSynced())
		assert.False(t, cache.IsDone(rec.handle.HasSyncedChecker()))
		assert.Empty(t, rec.next())
		assert.Empty(t, r.script.listCalls(), "nothing is asked before Run")
		// The bubble ends: no goroutine waits for a start.
	})
}

func TestContractRunStopsWithChannel(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() { defer close(ended); r.Run(stop) }()
		synctest.Wait()
		assert.True(t, r.HasSynced())
		assert.False(t, r.IsStopped())
		close(stop)
		<-ended
		assert.True(t, r.IsStopped())
	})
}

func TestContractRunTwice(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		r.run()
		r.RunWithContext(t.Context()) // returns at once
		r.Run(nil)
		r.send(added(pod("a", "11")))
		assert.Equal(t, []string{"add ns/a@11"}, rec.next(), "the first run is not disturbed")
		assert.Len(t, r.script.listCalls(), 1)
		assert.False(t, r.IsStopped())
	})
}

func TestContractRunAfterStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		r.halt()
		require.True(t, r.IsStopped())
		r.RunWithContext(t.Context()) // returns at once
		r.Run(nil)
		assert.True(t, r.IsStopped())
		assert.Len(t, r.script.listCalls(), 1)
	})
}

func TestContractRunWithEndedContext(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.RunWithContext(ctx)
		assert.True(t, r.IsStopped())
		_, err := r.AddEventHandler(&recorder{})
		assert.Error(t, err)
	})
}

func TestContractReadableAfterStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		rec := r.handle()
		r.run()
		r.halt()
		assert.True(t, r.HasSynced())
		assert.True(t, cache.IsDone(r.HasSyncedChecker()))
		assert.True(t, rec.handle.HasSynced())
		assert.Equal(t, "10", r.LastSyncResourceVersion())
		assert.Equal(t, []string{"ns/a@1", "ns/b@2"}, describeAll(r.GetStore().List()))
		_, exists, err := r.GetIndexer().GetByKey("ns/a")
		require.NoError(t, err)
		assert.True(t, exists)
		found, err := r.GetIndexer().ByIndex(cache.NamespaceIndex, "ns")
		require.NoError(t, err)
		assert.Len(t, found, 2)
	})
}

func TestContractStopBeforeSync(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.answers(func(metav1.ListOptions) (runtime.Object, error) { return nil, assert.AnError })
		rec := r.handle()
		r.run()
		r.halt()
		assert.False(t, r.HasSynced())
		assert.False(t, rec.handle.HasSynced())
		assert.True(t, r.IsStopped())
	})
}

// A list that ignores its context must not delay the stop.
func TestContractStopDuringList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		hold := make(chan struct{})
		r.script.answers(func(metav1.ListOptions) (runtime.Object, error) {
			<-hold
			return &corev1.PodList{}, nil
		})
		r.run()
		r.halt()
		assert.False(t, r.HasSynced())
		close(hold)
	})
}

// Run returns only after the last handler has.
func TestContractStopWaitsForHandlers(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"), pod("c", "3"))
		rec := r.handle()
		hold := make(chan struct{})
		rec.before = func(string) { <-hold }
		r.run()
		r.stop()
		synctest.Wait()
		assert.True(t, r.IsStopped(), "said as soon as nothing more is received")
		select {
		case <-r.ended:
			assert.Fail(t, "a handler is running")
		default:
		}
		close(hold)
		<-r.ended
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next(), "what was queued is dropped")
		assert.False(t, rec.handle.HasSynced())
	})
}

func TestContractStopStopsTheWatch(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		r.halt()
		select {
		case <-r.script.streams[0].stopped:
		default:
			assert.Fail(t, "the watch is open")
		}
	})
}

// The clock of the context's requests does not matter, its values do.
func TestContractContextReachesListAndWatch(t *testing.T) {
	type key struct{}
	eachInformer(t, func(t *testing.T, pods newPods) {
		s := &script{}
		s.lists("10")
		seen := make(chan any, 2)
		inf := pods(witness{s, func(ctx context.Context) { seen <- ctx.Value(key{}) }}, cache.SharedIndexInformerOptions{})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		ended := make(chan struct{})
		go func() { defer close(ended); inf.RunWithContext(ctx) }()
		synctest.Wait()
		cancel()
		<-ended
		assert.Equal(t, "value", <-seen)
		assert.Equal(t, "value", <-seen)
	})
}

func TestContractNoGoroutineLeft(t *testing.T) {
	for _, impl := range implementations {
		t.Run("impl="+impl.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			s := &script{}
			s.lists("10", pod("a", "1"))
			inf := impl.simple(s, &corev1.Pod{}, time.Hour, cache.Indexers{})
			for range 8 {
				_, err := inf.AddEventHandler(&recorder{})
				require.NoError(t, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); inf.RunWithContext(ctx) }()
			require.True(t, cache.WaitFor(t.Context(), "", inf.HasSyncedChecker()))
			late, err := inf.AddEventHandler(&recorder{})
			require.NoError(t, err)
			require.True(t, cache.WaitFor(t.Context(), "", late.HasSyncedChecker()))
			cancel()
			<-ended
			goleak.VerifyNone(t, before)
		})
	}
}

// witness gives the context of each request to seen.
type witness struct {
	*script
	seen func(context.Context)
}

func (w witness) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	w.seen(ctx)
	return w.List(options)
}

func (w witness) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watchInterface, error) {
	w.seen(ctx)
	return w.Watch(options)
}

// An informer without indexes is the same otherwise.
func TestContractSharedInformer(t *testing.T) {
	for name, newInformer := range map[string]func(cache.ListerWatcher, runtime.Object, time.Duration) cache.SharedInformer{
		"client-go": cache.NewSharedInformer, "typed": adapters.NewSharedInformer,
	} {
		t.Run("impl="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{}
				s.lists("10", pod("a", "1"))
				inf := newInformer(s, &corev1.Pod{}, time.Minute)
				rec := &recorder{}
				_, err := inf.AddEventHandler(rec)
				require.NoError(t, err)
				start(t, inf.(cache.SharedIndexInformer))
				assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
				time.Sleep(time.Minute)
				assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next())
			})
		})
	}
}
