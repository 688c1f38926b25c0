package proxy

import "sync"

// Watches returns the number of open watches of a resource, named as in Fault, of
// all if empty. A watch is open from when the client is sent the status 200 until
// it ends or is cut. One on a silent connection is open.
func (p *Proxy) Watches(resource string) (n int) {
	p.look(func() {
		for x := range p.watches {
			if x.about("", resource) {
				n++
			}
		}
	})
	return n
}

// CutWatches ends the open watches of a resource, named as in Fault (empty: all), and returns
// how many. They count as closed and as cut at once. A torn watch continues until there is an
// event to tear. With Whole, nothing is cut.
func (p *Proxy) CutWatches(resource string, how Ending) (n int) {
	p.change(func() {
		for x := range p.watches {
			if x.about("", resource) && p.cut(x, how) {
				n++
			}
		}
	})
	p.log.Printf("%d watches cut, %s", n, how)
	return n
}

// cut ends an open watch and counts that. It returns false if the watch is not
// open any more. mu is held.
func (p *Proxy) cut(x *exchange, how Ending) bool {
	if how == Whole || !p.watches[x] {
		return false
	}
	delete(p.watches, x)
	p.counts[counted{cuts, x.verb, x.resource, 0}]++
	x.manner = how
	if how != Torn {
		// This ends the wait for the next event.
		x.leave()
	}
	return true
}

// HoldWatches stops the events of the watches of a resource, named as in Fault
// (empty: all), later watches included, until resume is called, which may be
// called more than once. The watches stay open. The API server is not held up
// until some megabytes wait. Watches that are held can be cut.
func (p *Proxy) HoldWatches(resource string) (resume func()) {
	return p.hold(&hold{"watch", resource, true})
}

// HoldRequests stops requests that come from now on, with verb and resource named
// as in Fault (empty: all), before they reach the API server, until resume is
// called, which may be called more than once. Faults meet them before.
func (p *Proxy) HoldRequests(verb, resource string) (resume func()) {
	return p.hold(&hold{verb, resource, false})
}

// hold says what does not pass.
type hold struct {
	verb, resource string
	events         bool // of open watches, otherwise requests
}

func (p *Proxy) hold(h *hold) (release func()) {
	p.change(func() { p.holds[h] = true })
	return sync.OnceFunc(func() {
		p.change(func() { delete(p.holds, h) })
	})
}

// held reports whether a request, or its events, must not pass. mu is held.
func (p *Proxy) held(r request, events bool) bool {
	for h := range p.holds {
		if h.events == events && r.about(h.verb, h.resource) {
			return true
		}
	}
	return false
}
