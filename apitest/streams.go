package apitest

import (
	"context"
	"fmt"
	"sync"
)

// streams are the open watches. The zero value is ready.
type streams struct {
	mu      sync.Mutex
	open    map[*stream]bool // guarded by mu
	changed chan struct{}    // guarded by mu; closed when open changes
}

func (ss *streams) add(st *stream) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open == nil {
		ss.open = map[*stream]bool{}
	}
	ss.open[st] = true
	ss.announce()
}

func (ss *streams) remove(st *stream) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.open, st)
	ss.announce()
}

// announce wakes the goroutines that wait for a number of watches. mu is held.
func (ss *streams) announce() {
	if ss.changed != nil {
		close(ss.changed)
		ss.changed = nil
	}
}

// count returns the open watches of a resource and a channel that is closed when
// that may have changed.
func (ss *streams) count(resource string) (int, <-chan struct{}) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.changed == nil {
		ss.changed = make(chan struct{})
	}
	return len(ss.of(resource)), ss.changed
}

// of returns the open watches of a resource. mu is held.
func (ss *streams) of(resource string) []*stream {
	var found []*stream
	for st := range ss.open {
		if (target{resource: st.collection.groupResource()}).matches(resource) {
			found = append(found, st)
		}
	}
	return found
}

// Watches returns the number of open watches of a resource, named as in Fault,
// of all if empty. A watch is open from when its place in the history is fixed:
// it is sent every later write.
func (s *Server) Watches(resource string) int {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	return len(s.streams.of(resource))
}

// WaitForWatches waits until exactly n watches of a resource are open. It
// returns the error of ctx if that ends before.
func (s *Server) WaitForWatches(ctx context.Context, resource string, n int) error {
	if err := s.home.check(); err != nil {
		return fmt.Errorf("wait for watches: %w", err)
	}
	for {
		open, changed := s.streams.count(resource)
		if open == n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d watches of %q, %d are open: %w", n, resource, open, ctx.Err())
		}
	}
}
