package typedtest

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// streams are the open watches. The zero value is ready.
type streams struct {
	mu      sync.Mutex
	open    map[*stream]bool // guarded by mu
	holds   map[*hold]bool   // guarded by mu
	changed chan struct{}    // guarded by mu; closed when open changes
}

// hold stops delivery to the watches of a resource.
type hold struct{ resource string }

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

// announce wakes those who wait for a number of watches. mu is held.
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
		if matchesResource(resource, st.resource()) {
			found = append(found, st)
		}
	}
	return found
}

// tell gives a command to the open watches of a resource and returns how many.
func (ss *streams) tell(resource string, c command) int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	told := ss.of(resource)
	for _, st := range told {
		st.post(c)
	}
	return len(told)
}

// cut gives a command that ends watches, which count as closed from now on.
func (ss *streams) cut(resource string, c command) int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	told := ss.of(resource)
	for _, st := range told {
		delete(ss.open, st)
		st.post(c)
	}
	ss.announce()
	return len(told)
}

func (ss *streams) hold(resource string) *hold {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.holds == nil {
		ss.holds = map[*hold]bool{}
	}
	h := &hold{resource}
	ss.holds[h] = true
	return h
}

func (ss *streams) release(h *hold) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.holds, h)
	for st := range ss.open {
		st.wake()
	}
}

func (ss *streams) held(resource schema.GroupResource) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for h := range ss.holds {
		if matchesResource(h.resource, resource) {
			return true
		}
	}
	return false
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
