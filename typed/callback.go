package typed

import "github.com/kubetyped/informer/internal/goroutine"

// InCallback reports whether it is called in a call of a handler of the informer, or by the
// goroutine that applies changes, as an index function is. What waits for the informer there
// may wait for itself.
func (i *Informer[T]) InCallback() bool {
	id := goroutine.ID()
	if i.looping.Load() == id {
		return true
	}
	for _, l := range i.listeners.all() {
		if l.registration.goroutine.Load() == id {
			return true
		}
	}
	return false
}
