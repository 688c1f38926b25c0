package fleet

import (
	"errors"
	"sync"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// troubles is what the informer is to be told of failures, in order. Being told calls
// functions of the user's, which may wait for clusters, so it is noted under locks, and
// told when they are free.
type troubles struct {
	mu      sync.Mutex
	untold  []error // guarded by mu
	telling bool    // guarded by mu; somebody is at it
}

// changed notes that what fails has changed. Failing returns it, and is called under the
// lock, so that what is told last is how it is.
func (t *troubles) changed(failing func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.untold = append(t.untold, failing())
}

// wait notes what the informer waits for.
func (t *troubles) wait(err *source.WaitingError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.untold = append(t.untold, err)
}

// next returns what is to be told next, false if there is nothing or somebody else is at it.
func (t *troubles) next(first bool) (error, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first && t.telling {
		return nil, false
	}
	t.telling = len(t.untold) > 0
	if !t.telling {
		t.untold = nil
		return nil, false
	}
	err := t.untold[0]
	t.untold = t.untold[1:]
	return err, true
}

// tell makes the reports that wait. The caller holds no lock.
func (g *group[T]) tell() {
	for err, ok := g.troubles.next(true); ok; err, ok = g.troubles.next(false) {
		goroutine.Call(g.ctx, func() { g.sink.Report(err) })
	}
}

// failing returns the failures that last, nil if there are none.
func (g *group[T]) failing() error {
	var errs []error
	for _, m := range g.all() {
		if err := m.health.failure(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
