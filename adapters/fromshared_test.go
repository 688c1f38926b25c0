package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Whichever informer starts first, the typed one begins with one list of the current objects, and
// then receives each change in order.
func TestFromSharedBeginsWithAllAndGoesOn(t *testing.T) {
	for name, start := range map[string]func(*sharedRig){
		"shared informer first":  func(r *sharedRig) { r.startShared(); synctest.Wait(); r.startTyped() },
		"typed informer first":   func(r *sharedRig) { r.startTyped(); synctest.Wait(); r.startShared() },
		"both at the same time":  func(r *sharedRig) { r.startShared(); r.startTyped() },
		"changes come in before": func(r *sharedRig) { r.startShared(); synctest.Wait(); r.remove("c"); r.startTyped(); r.write("c") },
	} {
		t.Run(name, func(t *testing.T) {
			onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
				r := newRig("a", "b", "c")
				start(r)
				require.NoError(t, r.typed.WaitForSync(t.Context()))
				r.requireSame()
				if name != "changes come in before" {
					assert.ElementsMatch(t, []string{"initial a@1", "initial b@2", "initial c@3"}, r.calls.next())
				}
				r.calls.next()
				a, d := r.write("a"), r.write("d")
				r.remove("b")
				a2 := r.write("a")
				assert.Equal(t, []string{
					fmt.Sprintf("update a@1@%s", a), "add d@" + d,
					fmt.Sprintf("delete b@%d Watched", r.version-1), fmt.Sprintf("update a@%s@%s", a, a2),
				}, r.calls.next())
				r.requireSame()
			})
		})
	}
}

// Changes among the initial additions become part of the initial list; those after the last
// addition are delivered one by one.
func TestFromSharedKeepsEventsWhileItSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		a1, a2, a3 := sharedPod("a", 1), sharedPod("a", 4), sharedPod("a", 5)
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		calls := &sharedCalls{}
		_, err := pods.Handle(calls)
		require.NoError(t, err)
		sharedRun(t, pods.Run, nil)
		synctest.Wait()
		stub.send(func(h cache.ResourceEventHandler) {
			h.OnAdd(a1, true)
			h.OnAdd(sharedPod("b", 2), true)
			h.OnUpdate(a1, a2)
			h.OnDelete(sharedPod("b", 5))
			h.OnAdd(sharedPod("c", 3), true)
			h.OnUpdate(a2, a3)
			h.OnDelete(sharedPod("c", 6))
		})
		assert.Empty(t, calls.next())
		assert.Equal(t, 5, pods.Status().Received)

		close(stub.synced)
		got := calls.next()
		require.Len(t, got, 4)
		assert.ElementsMatch(t, []string{"initial a@4", "initial c@3"}, got[:2])
		assert.Equal(t, []string{"update a@4@5", "delete c@6 Watched"}, got[2:])
	})
}

func TestFromSharedSyncsWithoutObjects(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig()
		r.startShared()
		r.startTyped()
		require.NoError(t, r.typed.WaitForSync(t.Context()))
		r.requireSame()
	})
}

func TestFromSharedResolvesTombstones(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a", "b", "c")
		r.startShared()
		r.startTyped()
		synctest.Wait()
		r.calls.next()
		r.relist(func() { r.remove("b"); r.write("c"); r.write("d") })
		got := r.calls.next()
		assert.Contains(t, got, "delete b@2 Relisted")
		assert.Contains(t, got, "update c@3@5")
		assert.Contains(t, got, "add d@6")
		require.NoError(t, r.received.Err())
		r.requireSame()
	})
}

// A tombstone that has no object in it, or something else, leads to a deletion
// of the last known one all the same.
func TestFromSharedResolvesTombstonesWithoutObject(t *testing.T) {
	for name, inside := range map[string]any{"nothing": nil, "a nil pod": (*corev1.Pod)(nil), "something else": &corev1.Node{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := newSharedStub()
				close(stub.synced)
				a := sharedPod("a", 1)
				stub.put("2", a, sharedPod("b", 2))
				pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
				calls := &sharedCalls{}
				_, err := pods.Handle(calls)
				require.NoError(t, err)
				sharedRun(t, pods.Run, nil)
				require.Len(t, calls.next(), 2)

				require.NoError(t, stub.store.Delete(a))
				stub.send(func(h cache.ResourceEventHandler) {
					h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: inside})
				})
				assert.Contains(t, calls.next(), "delete a@1 Relisted")
				assert.Equal(t, 1, pods.Len())

				stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(sharedPod("c", 3), false) })
				assert.Equal(t, []string{"add c@3"}, calls.next(), "it goes on, once")
			})
		})
	}
}

func TestFromSharedLeavesOutOtherTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		close(stub.synced)
		stub.put("1", sharedPod("a", 1))
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub), typed.WithName("pods"))
		sharedRun(t, pods.Run, nil)
		require.NoError(t, pods.WaitForSync(t.Context()))
		node := &corev1.Node{}
		node.Name, node.ResourceVersion = "n", "7"
		stub.send(func(h cache.ResourceEventHandler) {
			h.OnAdd(node, false)
			h.OnUpdate(node, node)
			h.OnDelete(node)
			h.OnAdd(nil, false)
			h.OnAdd((*corev1.Pod)(nil), false)
			h.OnAdd(sharedPod("b", 2), false)
		})
		synctest.Wait()
		assert.Equal(t, 2, pods.Len())
		status := pods.Status()
		assert.Equal(t, 5, status.Rejected)
		assert.NoError(t, status.Err)

		stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(node, false) })
		rejected := pods.Status().LastRejected
		assert.Equal(t, index.Key{Name: "n"}, rejected.Key)
		assert.ErrorContains(t, rejected, "the shared informer has a *v1.Node, not a *v1.Pod")
	})
}

func TestFromSharedAsksForNoResyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		close(stub.synced)
		a := sharedPod("a", 1)
		stub.put("1", a)
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		calls := &sharedCalls{}
		_, err := pods.Handle(calls)
		require.NoError(t, err)
		sharedRun(t, pods.Run, nil)
		assert.Equal(t, []string{"initial a@1"}, calls.next())
		require.NotNil(t, stub.options[0].ResyncPeriod)
		assert.Zero(t, *stub.options[0].ResyncPeriod)

		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(a, a) })
		assert.Empty(t, calls.next())
		again := sharedPod("a", 1)
		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(a, again) })
		assert.Equal(t, []string{"update a@1@1"}, calls.next(), "the pointer is another one")
		held, _ := pods.Get(index.KeyOf(again))
		assert.Same(t, again, held)
	})
}

// When Run returns, its handler is removed, and the shared informer continues.
func TestFromSharedRemovesItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		close(stub.synced)
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		result := make(chan error, 1)
		stop := sharedRun(t, pods.Run, result)
		synctest.Wait()
		require.Len(t, stub.handlers, 1)
		feed := stub.handlers[0]
		stop()
		require.NoError(t, <-result)
		assert.Empty(t, stub.handlers)
		feed.OnAdd(sharedPod("late", 1), false) // as a call in progress may
		assert.Zero(t, pods.Len())
	})
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a")
		r.startShared()
		stop, result := r.startTyped()
		require.NoError(t, r.typed.WaitForSync(t.Context()))
		stop()
		require.NoError(t, <-result)
		r.write("b")
		synctest.Wait()
		assert.Len(t, r.shared.GetStore().List(), 2)
	})
}

// Run waits until its handler has ended, as cache.ShutDownEventHandler does, if the registration
// reports it.
func TestFromSharedWaitsForItsHandler(t *testing.T) {
	for name, stop := range map[string]func(stub *sharedStub, cancel func()){
		"Run is stopped":              func(_ *sharedStub, cancel func()) { cancel() },
		"the shared informer ends it": func(stub *sharedStub, _ func()) { close(stub.ended) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := newSharedStub()
				stub.ended = make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan error, 1)
				go func() { result <- typed.NewInformer(adapters.FromShared[*corev1.Pod](stub)).Run(ctx) }()
				synctest.Wait()
				stop(stub, cancel)
				synctest.Wait()
				assert.Empty(t, stub.handlers)
				if ctx.Err() != nil {
					assert.Empty(t, result, "it waits")
					close(stub.ended)
					require.NoError(t, <-result)
					return
				}
				synctest.Wait()
				require.Len(t, result, 1, "at once")
				assert.ErrorIs(t, <-result, adapters.ErrSharedStopped)
			})
		})
	}
}

func TestFromSharedNeverStarted(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a")
		stop, result := r.startTyped()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		err := r.typed.WaitForSync(ctx)
		require.ErrorIs(t, err, adapters.ErrSharedNotStarted)
		assert.ErrorContains(t, err, "run it, or start its factory")
		time.Sleep(time.Minute)
		assert.Equal(t, 6, r.typed.Status().Failures, "after 1, 2, 4, … seconds")
		stop()
		require.NoError(t, <-result)

		handle, err := r.shared.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err, "the shared informer can still be used")
		require.NoError(t, r.shared.RemoveEventHandler(handle))
	})
}

// If the shared informer does not report whether it was started, Status reports
// ErrSharedNotSynced after a while, until it starts.
// reticent is a shared informer that does not report whether it was started.
type reticent struct{ shared }

type shared = cache.SharedInformer

func TestFromSharedStartedLate(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a")
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](reticent{r.shared}))
		sharedRun(t, pods.Run, nil)
		time.Sleep(9 * time.Second)
		assert.NoError(t, pods.Status().Err)
		time.Sleep(2 * time.Second)
		assert.ErrorIs(t, pods.Status().Err, adapters.ErrSharedNotSynced)
		r.startShared()
		require.NoError(t, pods.WaitForSync(t.Context()))
		assert.NoError(t, pods.Status().Err)
		assert.Equal(t, 1, pods.Len())
	})
}

func TestFromSharedThatStops(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
			r := newRig("a")
			r.startShared()()
			_, result := r.startTyped()
			assert.ErrorIs(t, <-result, adapters.ErrSharedStopped)
			assert.ErrorIs(t, r.typed.WaitForSync(t.Context()), adapters.ErrSharedStopped)
		})
	})
	t.Run("while it runs", func(t *testing.T) {
		onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
			r := newRig("a")
			stop := r.startShared()
			_, result := r.startTyped()
			require.NoError(t, r.typed.WaitForSync(t.Context()))
			stop()
			assert.ErrorIs(t, <-result, adapters.ErrSharedStopped)
		})
	})
	t.Run("one that does not tell its handlers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stub := newSharedStub()
			pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
			result := make(chan error, 1)
			sharedRun(t, pods.Run, result)
			synctest.Wait()
			stub.stop()
			assert.ErrorIs(t, <-result, adapters.ErrSharedStopped)
		})
	})
}

func TestFromSharedErrors(t *testing.T) {
	run := func(src source.Source[*corev1.Pod]) error {
		return typed.NewInformer(src, typed.WithName("pods")).Run(t.Context())
	}
	for _, none := range []cache.SharedInformer{nil, (*sharedStub)(nil)} {
		assert.EqualError(t, run(adapters.FromShared[*corev1.Pod](none)), "informer pods: shared informer is nil")
	}

	stub := newSharedStub()
	stub.err = errors.New("no")
	err := run(adapters.FromShared[*corev1.Pod](stub))
	assert.ErrorIs(t, err, stub.err)
	assert.EqualError(t, err, "informer pods: source over the shared informer of *v1.Pod: handler not added: no")
}

// A handler that holds the informer up does not keep Run from returning.
func TestFromSharedStopsWhileBlocked(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a")
		gate := make(chan struct{})
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](r.shared))
		_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
			UpdateFunc: func(_, _ *corev1.Pod) { <-gate },
		}, typed.WithDelivery(typed.Block(1)))
		require.NoError(t, err)
		r.startShared()
		result := make(chan error, 1)
		stop := sharedRun(t, pods.Run, result)
		require.NoError(t, pods.WaitForSync(t.Context()))
		for range 100 {
			r.write("a")
		}
		synctest.Wait()
		assert.Less(t, pods.Status().Events, 10, "the source is held up")
		go func() { // once Run waits for the handler
			synctest.Wait()
			close(gate)
		}()
		stop()
		require.NoError(t, <-result)
	})
}

// TestFromSharedOfAFactory: informers of factories, which wrap others, report that they were not
// started, too.
func TestFromSharedOfAFactory(t *testing.T) {
	for name, pods := range map[string]cache.SharedIndexInformer{
		"client-go's": coreinformers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer(),
		"ours":        informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				typed := typed.NewInformer(adapters.FromShared[*corev1.Pod](pods))
				sharedRun(t, typed.Run, nil)
				time.Sleep(2 * time.Second)
				assert.ErrorIs(t, typed.Status().Err, adapters.ErrSharedNotStarted)
			})
		})
	}
}

// TestFromSharedDeletesOtherTypes: the deletion of an object that is no T any more is that of the
// last one that was.
func TestFromSharedDeletesOtherTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		calls := &sharedCalls{}
		_, err := pods.Handle(calls)
		require.NoError(t, err)
		stub.put("2", sharedPod("b", 2))
		sharedRun(t, pods.Run, nil)
		synctest.Wait()
		other := func(name string, version string) *corev1.Node {
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
		}
		stub.send(func(h cache.ResourceEventHandler) { // before it has synced
			h.OnAdd(sharedPod("a", 1), true)
			h.OnUpdate(sharedPod("a", 1), other("a", "2"))
			h.OnDelete(other("a", "3"))
			h.OnAdd(sharedPod("c", 3), true)
		})
		close(stub.synced)
		require.NoError(t, pods.WaitForSync(t.Context()))
		synctest.Wait()
		assert.ElementsMatch(t, []string{"initial b@2", "initial c@3"}, calls.next())
		assert.Zero(t, pods.Status().RejectedNow)

		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(sharedPod("b", 2), other("b", "4")) })
		assert.Equal(t, 1, pods.Status().RejectedNow)
		stub.send(func(h cache.ResourceEventHandler) { h.OnDelete(other("b", "5")) })
		assert.Equal(t, []string{"delete b@2 Watched"}, calls.next())
		assert.Equal(t, 1, pods.Len())
		assert.Zero(t, pods.Status().RejectedNow)
	})
}

// TestResyncPeriodBelowZero: as client-go's informers, those of SharedIndexInformer take one.
func TestResyncPeriodBelowZero(t *testing.T) {
	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](newSharedStub()))
	_, err := adapters.SharedIndexInformer(pods).AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, -1)
	assert.NoError(t, err)
}
