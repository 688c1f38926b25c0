package simulation

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/apitest"
)

// String describes the fault, when it is going to happen, as traces have it.
func (f fault) String() string { return fmt.Sprintf("fault %d: %v", f.number, f.kind) }

// apply makes a fault happen.
func (w *world) apply(f fault) {
	if len(w.processes) == 0 {
		return
	}
	p := w.processes[f.process]
	w.note("simulation", "%v %s", f, w.detail(f))
	switch f.kind {
	case Crash:
		if l := p.present(); l != nil {
			p.crash(l, "by itself", f.lasts)
		}
	case CrashBeforeWrite, CrashAfterWrite, LostAnswer, Refused, Conflicts, LateWrite:
		p.arm(f.arming())
	case Cut:
		f.cut(p)
	case Expired:
		w.onWatches(f, apitest.Fault{Open: true, Err: apierrors.NewResourceExpired("too old resource version")})
	case Held:
		w.onWatches(f, apitest.Fault{Hold: true})
	case Freeze:
		w.freeze(f, p)
	case Slow:
		w.lasting(f.lasts, p.slow(2<<(f.variant%10)))
	case Moved:
		p.moveTo(f.server)
		f.cut(p)
	case Lag:
		in := w.servers[f.server].Inject(apitest.Fault{Lag: true})
		w.lasting(f.lasts, in.Remove)
	case Compacted:
		w.servers[0].Compact()
	case Travel:
		w.travel(f, p)
	}
	w.stir()
}

// detail describes a fault in more detail than its kind does.
func (w *world) detail(f fault) string {
	name := w.processes[f.process].name
	switch f.kind {
	case Compacted:
		return ""
	case Lag:
		return fmt.Sprintf("of server %d for %v", f.server, f.lasts)
	case Moved:
		return fmt.Sprintf("of %s to server %d", name, f.server)
	case Freeze, Held, Slow:
		return fmt.Sprintf("of %s for %v", name, f.lasts)
	case Travel:
		return fmt.Sprintf("of %s to server %d, which lags for %v", name, f.server, f.lasts)
	case Refused, Conflicts, LostAnswer:
		return fmt.Sprintf("of %s, %d times", name, f.times)
	}
	return "of " + name
}

// lasting ends a fault after some time, or with all others.
func (w *world) lasting(lasts time.Duration, end func()) {
	end = sync.OnceFunc(end)
	w.mu.Lock()
	w.end = append(w.end, end)
	w.mu.Unlock()
	w.later(lasts, end)
}

// onWatches injects a fault of the watches of a process.
func (w *world) onWatches(f fault, what apitest.Fault) {
	p := w.processes[f.process]
	what.Verb, what.UserAgent = "watch", p.agent()
	in := p.serverNow().Inject(what)
	if what.Open {
		in.Remove()
		return
	}
	w.lasting(f.lasts, in.Remove)
}

// arming returns the fault in the form that waits for requests.
func (f fault) arming() *arming {
	a := &arming{matches: target.writes, times: 1}
	switch f.kind {
	case CrashBeforeWrite:
		a.apply = func(to *fate) { to.crashBefore, to.back = true, f.lasts }
	case CrashAfterWrite:
		a.apply = func(to *fate) { to.crashAfter, to.back = true, f.lasts }
	case LateWrite:
		a.apply = func(to *fate) { to.late = f.lasts }
	case LostAnswer:
		a.times = min(f.times, 3)
		a.apply = func(to *fate) { to.lose = true }
	case Conflicts:
		a.times = f.times
		a.matches = func(t target) bool { return t.writes() && t.verb != "create" }
		a.apply = func(to *fate) { to.refusal = conflict }
	case Refused:
		a.times = f.times
		a.matches = func(t target) bool { return t.resource != "" }
		a.apply = func(to *fate) { to.refusal = refusals[f.variant%len(refusals)] }
	}
	return a
}

// cut ends the open watches of a process, each in its own way.
func (f fault) cut(p *process) {
	l := p.present()
	if l == nil {
		return
	}
	for i, s := range l.open() {
		switch (f.variant >> i) % 4 {
		case 0:
			s.cut(io.EOF)
		case 1:
			s.cut(syscall.ECONNRESET)
		case 2:
			s.tear()
		case 3:
			s.finish(io.EOF)
			s.cancel()
		}
	}
}

// freeze stops what travels, in one direction or in both.
func (w *world) freeze(f fault, p *process) {
	for way := towards; way <= back; way++ {
		if f.variant%3 != int(way) {
			w.lasting(f.lasts, p.freeze(way))
		}
	}
}

// slow makes everything take some times as long until the function that it returns is called.
func (p *process) slow(times int) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slowness = append(p.slowness, times)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		at := slices.Index(p.slowness, times)
		p.slowness = slices.Delete(p.slowness, at, at+1)
	}
}

// moveTo connects the process with another server; requests in progress stay where they are.
func (p *process) moveTo(server int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
}

// errMoved is what watches end with when a process is moved.
var errMoved = errors.New("simulation: the connection was closed")

// travel makes a server lag. The process continues with another server for some time, and then
// starts again with the one that lags.
func (w *world) travel(f fault, p *process) {
	past := w.servers[f.server]
	p.moveTo(1 + f.server%(servers-1))
	if l := p.present(); l != nil {
		for _, s := range l.open() {
			if s.server == f.server {
				s.cut(errMoved)
			}
		}
	}
	in := past.Inject(apitest.Fault{Lag: true})
	lasts := f.lasts + time.Minute
	w.lasting(lasts, in.Remove)
	w.later(lasts/4, func() {
		p.moveTo(f.server)
		if l := p.present(); l != nil {
			p.crash(l, "and starts with a server that lags", lasts/8)
		}
	})
}
