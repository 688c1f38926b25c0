package adapters

import (
	"context"
	"errors"
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/argument"
)

// Syncer is what can report that it has synced: every *typed.Informer, and every
// *typed.Registration of a handler.
type Syncer interface {
	// Name reports what it is.
	Name() string
	// Synced returns a channel that is closed when it has synced.
	Synced() <-chan struct{}
	// WaitForSync waits until Synced is closed, and reports why it is not if ctx ends, or it
	// never will be.
	WaitForSync(ctx context.Context) error
}

// DoneChecker returns what client-go's cache.WaitFor waits for, which is done
// when the informer, or the handler, has synced:
//
//	cache.WaitFor(ctx, "caches", adapters.DoneChecker(pods), adapters.DoneChecker(registration))
//
// WaitFor of this package does the same, and reports what went wrong. If s is nil, it is never
// done.
func DoneChecker(s Syncer) cache.DoneChecker {
	if argument.IsNil(s) {
		s = noSyncer{}
	}
	return syncChecker{s}
}

// InformerSynced returns what client-go's cache.WaitForCacheSync asks from time
// to time, which is true once the informer, or the handler, has synced. If s is nil, that is
// never; it is reported once to utilruntime.HandleError.
func InformerSynced(s Syncer) cache.InformerSynced {
	if argument.IsNil(s) {
		utilruntime.HandleError(fmt.Errorf("adapters.InformerSynced: %w", errNilSyncer))
	}
	checker := DoneChecker(s)
	return func() bool { return cache.IsDone(checker) }
}

type syncChecker struct{ Syncer }

// Done implements cache.DoneChecker.
func (c syncChecker) Done() <-chan struct{} { return c.Synced() }

// noSyncer stands for a nil Syncer.
type noSyncer struct{}

var errNilSyncer = errors.New("cannot wait for a nil informer or handler: make it first")

func (noSyncer) Name() string                      { return "nil informer or handler" }
func (noSyncer) Synced() <-chan struct{}           { return nil }
func (noSyncer) WaitForSync(context.Context) error { return errNilSyncer }

// WaitFor waits until all checkers are done. If ctx ends before, it returns an error that
// names those that are not, and wraps context.Cause(ctx). Of what DoneChecker has made, the
// error is that of WaitForSync, which reports what is wrong; if that has stopped, WaitFor
// returns it without waiting for those that come after.
//
// Checkers may be those of client-go's informers and handlers too.
func WaitFor(ctx context.Context, checkers ...cache.DoneChecker) error {
	var errs []error
	for _, checker := range checkers {
		if err := waitForOne(ctx, checker); err != nil {
			errs = append(errs, err)
			if ctx.Err() == nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

func waitForOne(ctx context.Context, checker cache.DoneChecker) error {
	if checker == nil {
		return errors.New("cannot wait for a nil checker")
	}
	if cache.IsDone(checker) {
		return nil
	}
	if c, ok := checker.(syncChecker); ok {
		return c.WaitForSync(ctx)
	}
	select {
	case <-checker.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s is not done: %w", checker.Name(), context.Cause(ctx))
	}
}

// doneChecker is a cache.DoneChecker.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (c doneChecker) Name() string          { return c.name }
func (c doneChecker) Done() <-chan struct{} { return c.done }
