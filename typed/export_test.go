package typed

// Awaited returns how many versions and departures of objects are waited for.
func (i *Informer[T]) Awaited() (versions, departures int) {
	i.versions.mu.Lock()
	defer i.versions.mu.Unlock()
	i.departures.mu.Lock()
	defer i.departures.mu.Unlock()
	for _, waiters := range i.departures.waiters {
		departures += len(waiters)
	}
	return len(i.versions.waiters), departures
}
