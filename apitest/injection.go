package apitest

import "sync"

// Injection is a fault in force.
type Injection struct {
	fault  Fault // never changed
	server *Server
	lift   sync.Once
	lifted chan struct{} // closed by Remove
	since  uint64        // the revision when it was injected

	met  int // guarded by faults.mu
	left int // guarded by faults.mu; of Times
}

// Inject puts a fault in force until it is removed, or has met Times requests. Each
// request meets every fault that matches, in the order of Inject, up to the first
// that ends it. Of several latencies the sum counts, and of several bandwidths the
// least.
//
// A fault that is about open watches meets them now, and no later ones. Any other is about
// requests that come from now on; Latency, Bandwidth, Freeze and HalfOpen also act on answers
// that are in progress, and Hold on watches that are open. An answer that a fault ends does not
// count as open from then on; bytes that were written before may still be delivered, or not.
func (s *Server) Inject(f Fault) *Injection {
	s.home.must()
	in := &Injection{fault: f.own(), server: s, lifted: make(chan struct{}), left: f.Times, since: s.store.Revision()}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if !f.Open {
		s.faults.rules = append(s.faults.rules, in)
	}
	for _, l := range s.lines.all() {
		l.strike(in)
	}
	if f.Open {
		in.met = s.streams.strike(in)
	} else if f.HalfOpen {
		s.streams.strike(in)
	}
	return in
}

// Remove lifts the fault: what was frozen or held continues. It brings no ended answer back. It
// may be called more than once.
func (in *Injection) Remove() {
	in.server.home.must()
	in.lift.Do(func() {
		in.server.faults.remove(in)
		close(in.lifted)
		for _, l := range in.server.lines.all() {
			l.spare(in)
		}
	})
}

// Met returns how many requests the fault has met; of a fault that is about open
// watches, how many there were.
func (in *Injection) Met() int {
	in.server.faults.mu.Lock()
	defer in.server.faults.mu.Unlock()
	return in.met
}
