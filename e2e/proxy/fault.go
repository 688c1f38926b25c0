package proxy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Fault is a rule about requests: those it matches are delayed, refused or
// aborted, or their answers are slow or cut. Empty fields match everything.
// A fault without an effect does nothing, but is counted.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; for requests
	// without a resource, such as discovery, the HTTP method in lower case.
	Verb string
	// Resource is a plural, with its group ("deployments.apps") or of any group
	// ("deployments").
	Resource string
	// Namespace and Name are those in the request's URL.
	Namespace, Name string
	// Times ends the fault after so many requests; with 0 or less it lasts until
	// it is removed.
	Times int

	// Delay passes before anything else is done, unless the client leaves or the
	// proxy closes.
	Delay time.Duration
	// Err refuses the request; it does not reach the API server. It is answered
	// as an API status in JSON, with Retry-After if it has one, such as
	// apierrors.NewTooManyRequests(message, seconds); what is not an API status
	// becomes 500.
	Err error
	// Abort ends the request without an answer, before it reaches the API server:
	// an error of the stream in HTTP/2, a closed connection in HTTP/1.1.
	Abort bool

	// BytesPerSecond is how fast the body of the answer comes; with 0 or less, as
	// fast as it can.
	BytesPerSecond int
	// End, unless Whole, ends the answer after so many events of a watch, or so
	// many bytes of any other body, if it gets there. Bookmarks and initial
	// events are events.
	End   Ending
	After int
	// UpTo, if above After, draws that number again for each request, evenly from After to UpTo,
	// from a generator that starts at Seed.
	UpTo int
	Seed uint64
}

// effect names what the fault does.
func (f *Fault) effect() string {
	var effects []string
	if f.Delay > 0 {
		effects = append(effects, "delayed by "+f.Delay.String())
	}
	if f.Abort {
		effects = append(effects, "aborted")
	} else if f.Err != nil {
		effects = append(effects, fmt.Sprintf("refused: %v", f.Err))
	}
	if f.BytesPerSecond > 0 {
		effects = append(effects, fmt.Sprintf("slowed down to %d bytes a second", f.BytesPerSecond))
	}
	if f.End != Whole {
		effects = append(effects, fmt.Sprintf("to be cut after %d, %s", f.After, f.End))
	}
	return strings.Join(effects, ", ")
}

// Ending is how an answer ends before its time.
//
// client-go's reflector watches on at once after a clean end, and after a closed connection. It
// takes an error of the stream for a failure of the server: it starts again, after a back-off
// that grows to 30 seconds. A test of many cuts thus uses Clean, or HTTP/1.1.
type Ending int

const (
	// Whole is no ending: the answer comes as it is.
	Whole Ending = iota
	// Clean ends as if there were no more: after a whole event and without an error, as a server
	// ends a watch whose timeout has come. An answer that is no stream is cut short without a
	// sign.
	Clean
	// Abrupt breaks off after a whole event: an error of the stream in HTTP/2, a
	// closed connection in HTTP/1.1.
	Abrupt
	// Torn breaks off like Abrupt, but in the middle of the next event: clients
	// read the first half of its bytes. Where there are no events, it is Abrupt.
	Torn
)

func (e Ending) String() string {
	switch e {
	case Whole:
		return "whole"
	case Clean:
		return "clean"
	case Torn:
		return "torn"
	default:
		return "abrupt"
	}
}

// errCut breaks off an answer.
var errCut = errors.New("cut by the proxy")

func (f *Fault) matches(r request) bool {
	return r.about(f.Verb, f.Resource) &&
		(f.Namespace == "" || f.Namespace == r.namespace) &&
		(f.Name == "" || f.Name == r.name)
}

// Injection is a fault in force.
type Injection struct {
	fault  Fault
	proxy  *Proxy
	random *rand.Rand // guarded by proxy.mu
	met    int        // guarded by proxy.mu
}

// Inject puts a fault in force for requests that come from now on. Each request
// meets every fault that matches, in the order of Inject, up to the first that
// refuses or aborts it. Of several BytesPerSecond and several End, the last
// counts.
func (p *Proxy) Inject(f Fault) *Injection {
	in := &Injection{fault: f, proxy: p, random: rand.New(rand.NewPCG(f.Seed, 0))}
	p.change(func() { p.injections = append(p.injections, in) })
	return in
}

// Remove lifts the fault for requests to come; requests that have met it keep its effect. It may
// be called more than once.
func (in *Injection) Remove() {
	in.proxy.change(func() { in.proxy.remove(in) })
}

// Count returns how many requests have met the fault.
func (in *Injection) Count() (n int) {
	in.proxy.look(func() { n = in.met })
	return n
}

// remove lifts a fault. mu is held.
func (p *Proxy) remove(in *Injection) {
	p.injections = slices.DeleteFunc(p.injections, func(other *Injection) bool { return other == in })
}

// meet returns the faults that a request meets, with After drawn, and counts
// them.
func (p *Proxy) meet(r request) (met []Fault) {
	p.change(func() {
		for _, in := range slices.Clone(p.injections) {
			if !in.fault.matches(r) {
				continue
			}
			if in.met++; in.met == in.fault.Times {
				p.remove(in)
			}
			f := in.fault
			if f.UpTo > f.After {
				f.After += in.random.IntN(f.UpTo - f.After + 1)
			}
			met = append(met, f)
			if f.Err != nil || f.Abort {
				return
			}
		}
	})
	return met
}
