package typed

import (
	"errors"
	"time"

	"github.com/kubetyped/informer/index"
)

// Status reports on the informer. It waits for nothing that is the user's, so it may
// be called from anywhere, an index function for example.
func (i *Informer[T]) Status() Status {
	s := Status{
		Name:            i.name,
		Origin:          i.located(),
		ResourceVersion: i.store.ResourceVersion(),
		Queued:          i.deltas.Len(),
		QueuedMax:       i.deltas.HighWater(),
	}
	s.Received, s.Expected = int(i.received.Load()), int(i.expected.Load())
	s.Events = int(i.published.Load())
	if at := i.lastEvent.Load(); at != 0 {
		s.LastEvent = time.Unix(0, at)
	}
	s.Relists = int(i.relists.Load())
	i.health.fill(&s)
	if at := i.contact.Load(); at != 0 {
		s.LastContact = later(s.LastContact, time.Unix(0, at))
	}
	s.Phase = i.Phase()
	s.Objects = i.countObjects()
	s.Traffic, s.Created = i.meter.Traffic(), i.created
	s.Budget, s.FactoryBudget = i.spending.now(), i.total.now()
	if i.holders != nil {
		s.Holders = i.holders.sites()
	}
	for _, m := range i.listeners.all() {
		s.Handlers = append(s.Handlers, m.status(i.stuckLimit()))
	}
	return s
}

// countObjects returns the number of objects, 0 if the store was released.
func (i *Informer[T]) countObjects() (n int) {
	unlessReleased(func() { n = i.store.Len() })
	return n
}

// unlessReleased calls a function that reads a store, which may be released at any time. It
// reports whether that has not happened before.
func unlessReleased(read func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if err, is := p.(error); !is || !errors.Is(err, index.ErrReleased) {
				panic(p)
			}
		}
	}()
	read()
	return true
}
