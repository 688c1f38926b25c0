package typed

import (
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed/report"
)

// Release frees all objects, for good, even if the program still refers to the informer or its
// indexes; see the eighth promise of Informer. Call it after the last read, and after Run has
// returned or if it will not be called. Otherwise it returns an error and frees nothing, as it
// does if an argument of NewInformer was invalid. It may be called any number of times.
//
// An indexer that was given by WithIndexer is released, too. The informers of a
// Factory are released by SharedInformer.Release.
func (i *Informer[T]) Release() error {
	if i.err != nil {
		return i.err
	}
	i.mu.Lock()
	var listeners []*listener[T]
	if i.Phase() == report.PhaseNew {
		listeners = i.listeners.takeAll()
		i.setPhase(report.PhaseStopped)
		i.cause = index.ErrReleased
		i.ended = true
		close(i.stopped)
		i.followers.end(i.cause)
	}
	ended := i.ended
	if ended {
		i.released.Store(true)
		i.store.Release()
	}
	i.mu.Unlock()
	if !ended {
		return fmt.Errorf("informer %s: not released: it is running; end the context of Run and wait until that has returned", i.name)
	}
	for _, l := range listeners {
		l.registration.end()
		l.registration.reader.Close()
		l.registration.finish()
	}
	i.hooks.each(func(h *observer.Hooks) {
		if h.Released != nil {
			h.Released()
		}
	})
	i.versions.end()
	notify(i.deletions.all())
	i.byKey.end()
	return nil
}

// Err returns nil as long as there is something to read from, which may be empty:
// the last state, if the informer has stopped. Otherwise it returns what was wrong
// with the arguments of NewInformer, or index.ErrReleased.
func (a *access[T]) Err() error {
	i := a.followed()
	if err := i.check(); err != nil {
		return err
	}
	if err := i.store.Err(); err != nil { // its owner has released it
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	return nil
}
