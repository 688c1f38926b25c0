package typed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/report"
)

// Run starts the informer and blocks until ctx ends, or until the source gives up, the
// function of WithOnError does, or something else ends it: a budget with Stop, or an index
// function that ends its goroutine. It returns nil in the first case and the error in the
// others. If the source, or a function that it calls, ends the goroutine of Run by
// runtime.Goexit, the informer stops as well. At once Run returns ErrStarted if it was called
// before, the error in the arguments of NewInformer, and index.ErrReleased after Release.
//
// When ctx ends, handlers finish their current call, and the remaining events are dropped.
func (i *Informer[T]) Run(ctx context.Context) error {
	if err := i.check(); err != nil {
		return err
	}
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).WithValues("informer", i.name))
	if err := i.start(ctx); err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var final atomic.Pointer[error] // what has ended it: WithOnError, a budget, or the loop
	var looping sync.WaitGroup
	end := func(cause error) {
		if ctx.Err() == nil {
			final.CompareAndSwap(nil, &cause)
		}
		cancel()
	}
	i.ending.Store(&end)
	for _, h := range i.hooks {
		if h.Run != nil {
			looping.Go(func() { goroutine.CallSafely(func() { h.Run(running) }) })
		}
	}
	i.byKey.again = i.versionsMoved
	looping.Go(func() { (&loop[T]{informer: i}).run(running) })
	sink := &informerSink[T]{
		deltas: i.deltas, ctx: ctx, name: i.name, transform: i.transform, held: i.store.Get, nameless: i.nameless, health: &i.health, progress: &i.progress,
		onError: i.onError, reported: i.followers.report, end: end, meter: &i.meter, needs: i.needs,
		moved: i.versionsMoved, hooks: i.hooks,
	}
	ended := func(err error) error {
		i.health.trouble.End()
		if ctx.Err() != nil {
			err = nil // it was stopped
		}
		if err != nil {
			cancel()
		}
		looping.Wait()
		if cause := final.Load(); cause != nil {
			err = *cause
		}
		i.health.unreported.end(ctx)
		i.stop(err)
		return err
	}
	err := i.runSource(ctx, func() error { return i.source.Run(running, sink) }, func() { _ = ended(errSourceExited) })
	if err = ended(err); err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	return nil
}

// errSourceExited ends an informer whose source has ended the goroutine of Run.
var errSourceExited = errors.New("the source, or a function that it calls, has ended the goroutine of Run, by runtime.Goexit")

// runSource calls run, and contains its panics. If run ends the goroutine, runSource calls exited.
func (i *Informer[T]) runSource(ctx context.Context, run func() error, exited func()) (err error) {
	returned := false
	defer func() {
		if !returned {
			exited()
		}
	}()
	defer utilruntime.HandleCrashWithContext(ctx, func(_ context.Context, p any) {
		returned = true
		err = &goroutine.PanicError{Of: "its source", Value: p}
	})
	err = run()
	returned = true
	return err
}

// RunJointly calls run, which is Run or a function that calls it, once for all concurrent
// calls of RunJointly, for example of two controllers that need the informer. The context of
// that call has the values of the first caller's, and ends when those of all have ended.
// RunJointly returns nil when ctx has ended and others still need the call; otherwise it waits for
// run, and returns its result.
func (i *Informer[T]) RunJointly(ctx context.Context, run func(ctx context.Context) error) error {
	if err := i.check(); err != nil {
		return err
	}
	return i.joint.Run(ctx, "informer "+i.name, run)
}

func (i *Informer[T]) start(ctx context.Context) error {
	i.mu.Lock()
	if i.Phase() != report.PhaseNew {
		i.mu.Unlock()
		return fmt.Errorf("informer %s: %w", i.name, ErrStarted)
	}
	i.setPhase(report.PhaseSyncing)
	i.ctx = ctx
	i.followers.report(nil)
	listeners := i.listeners.all()
	for _, l := range listeners {
		i.call(l)
	}
	i.mu.Unlock()
	i.logger().V(2).Info("Starting informer", "handlers", len(listeners))
	return nil
}

// stop ends what depends on the informer, and waits for it.
func (i *Informer[T]) stop(cause error) {
	i.mu.Lock()
	i.setPhase(report.PhaseStopped)
	i.cause = cause
	listeners := i.listeners.takeAll()
	close(i.stopped)
	i.followers.end(i.endOf(context.Background()))
	i.mu.Unlock()

	for _, l := range listeners {
		l.registration.end()
		l.registration.reader.Close()
	}
	i.calling.Wait()
	i.versions.end()
	notify(i.deletions.all())
	i.byKey.end()
	i.mu.Lock()
	i.ended = true
	i.mu.Unlock()
	i.logger().V(2).Info("Informer has stopped", "err", cause)
}
