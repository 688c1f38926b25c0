package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// syncedSource reports its pods when the gate is opened.
type syncedSource struct {
	gate chan struct{}
	err  error // to end with before
}

func (s *syncedSource) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	if s.err != nil {
		sink.Report(s.err)
		return s.err
	}
	select {
	case <-s.gate:
		sinktest.Replace(sink, "", []*corev1.Pod{sharedPod("a", 1)}, "1")
		<-ctx.Done()
	case <-ctx.Done():
	}
	return nil
}

func TestDoneCheckerAndInformerSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &syncedSource{gate: make(chan struct{})}
		pods := typed.NewInformer[*corev1.Pod](src, typed.WithName("pods"))
		handling := make(chan struct{})
		reg, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(*corev1.Pod, bool) { <-handling },
		}, typed.WithHandlerName("slow"))
		require.NoError(t, err)
		sharedRun(t, pods.Run, nil)
		ofInformer, ofHandler := adapters.DoneChecker(pods), adapters.DoneChecker(reg)
		assert.Equal(t, "pods", ofInformer.Name())
		assert.Equal(t, "slow", ofHandler.Name())
		synced := func() []bool {
			synctest.Wait()
			return []bool{
				cache.IsDone(ofInformer), adapters.InformerSynced(pods)(),
				cache.IsDone(ofHandler), adapters.InformerSynced(reg)(),
			}
		}
		assert.Equal(t, []bool{false, false, false, false}, synced())
		close(src.gate)
		assert.Equal(t, []bool{true, true, false, false}, synced())
		close(handling)
		assert.Equal(t, []bool{true, true, true, true}, synced())

		assert.True(t, cache.WaitFor(t.Context(), "", ofInformer, ofHandler))
		assert.True(t, cache.WaitForCacheSync(t.Context().Done(), adapters.InformerSynced(pods)))
		assert.NoError(t, adapters.WaitFor(t.Context(), ofInformer, ofHandler))
		assert.NoError(t, adapters.WaitFor(t.Context()))
	})
}

func TestWaitForReportsOpenConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := typed.NewInformer[*corev1.Pod](&syncedSource{}, typed.WithName("never started"))
		done := make(chan struct{})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("too long"))
		defer cancel()
		time.AfterFunc(time.Second/2, func() { close(done) })
		err := adapters.WaitFor(ctx, sharedStubChecker(done), adapters.DoneChecker(never), sharedStubChecker(nil))
		assert.ErrorIs(t, err, context.Cause(ctx))
		assert.ErrorIs(t, err, typed.ErrNotStarted)
		assert.EqualError(t, err, "informer never started is not synced: too long; the informer was not started: call Run\n"+
			"stub is not done: too long")
	})
}

// WaitFor does not wait for an informer that has stopped.
func TestWaitForReturnsWhenSomethingHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := errors.New("no")
		pods := typed.NewInformer[*corev1.Pod](&syncedSource{err: no})
		require.ErrorIs(t, pods.Run(t.Context()), no)
		err := adapters.WaitFor(t.Context(), adapters.DoneChecker(pods), sharedStubChecker(nil))
		assert.ErrorIs(t, err, no)
		assert.ErrorIs(t, err, typed.ErrStopped)
	})
	assert.Error(t, adapters.WaitFor(t.Context(), nil))
}

// A program waits for typed informers and for those of client-go at once.
func ExampleWaitFor() {
	src := &syncedSource{gate: make(chan struct{})}
	close(src.gate)
	pods := typed.NewInformer[*corev1.Pod](src)
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- pods.Run(ctx) }()

	checkers := []cache.DoneChecker{adapters.DoneChecker(pods)} // and informer.HasSyncedChecker(), …
	if err := adapters.WaitFor(ctx, checkers...); err != nil {
		log.Fatal(err)
	}
	fmt.Println("pods:", pods.Len())

	stop()
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
	// Output: pods: 1
}

// TestWaitForNil: to wait for a nil informer or handler is an error.
func TestWaitForNil(t *testing.T) {
	for _, none := range []adapters.Syncer{nil, (*typed.Registration)(nil), (*typed.Informer[*corev1.Pod])(nil)} {
		assert.ErrorContains(t, adapters.WaitFor(t.Context(), adapters.DoneChecker(none)), "nil informer or handler")
	}
}

// TestNilNeverSyncs: with client-go's functions, a nil informer or handler is not done.
func TestNilNeverSyncs(t *testing.T) {
	for _, none := range []adapters.Syncer{nil, (*typed.Registration)(nil), (*typed.Informer[*corev1.Pod])(nil)} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			checker := adapters.DoneChecker(none)
			assert.Equal(t, "nil informer or handler", checker.Name())
			assert.False(t, cache.WaitFor(ctx, "pods", checker))
			reports := reported.since()
			synced := adapters.InformerSynced(none)
			assert.False(t, cache.WaitForCacheSync(ctx.Done(), synced))
			require.Len(t, reports(), 1)
			assert.EqualError(t, reports()[0], "adapters.InformerSynced: cannot wait for a nil informer or handler: make it first")
		})
	}
}
