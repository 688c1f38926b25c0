package typedtest

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Fault is a rule about requests: those it matches are delayed, refused or cut
// off. Empty fields match everything. A fault with none of Delay, Err and Abort
// does nothing, but Times counts.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection.
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
	// server closes.
	Delay time.Duration
	// Err refuses the request. It is answered as an API status, with Retry-After
	// if it has one, such as apierrors.NewTooManyRequests(message, seconds); what
	// is not an API status becomes 500.
	Err error
	// Abort drops the connection without an answer.
	Abort bool
}

func (f *Fault) matches(r *request) bool {
	return (f.Verb == "" || f.Verb == r.verb) &&
		matchesResource(f.Resource, r.collection.groupResource()) &&
		(f.Namespace == "" || f.Namespace == r.namespace) &&
		(f.Name == "" || f.Name == r.name)
}

// errAborted ends a request without an answer.
var errAborted = errors.New("request aborted")

// faults are the rules in force. The zero value is ready.
type faults struct {
	mu    sync.Mutex
	rules []*Fault // guarded by mu, each with the Times that are left
}

// Inject puts a fault in force for requests that come from now on, and returns
// the function that lifts it, which may be called more than once. Each request
// meets every fault that matches, in the order of Inject, up to the first that
// refuses it.
func (s *Server) Inject(f Fault) (remove func()) {
	rule := &f
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.rules = append(s.faults.rules, rule)
	return func() { s.faults.remove(rule) }
}

func (fs *faults) remove(rule *Fault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.rules = slices.DeleteFunc(fs.rules, func(f *Fault) bool { return f == rule })
}

// take returns copies of the rules that a request meets, and counts them.
func (fs *faults) take(r *request) []Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var met []Fault
	for _, rule := range slices.Clone(fs.rules) {
		if !rule.matches(r) {
			continue
		}
		met = append(met, *rule)
		if rule.Times > 0 {
			if rule.Times--; rule.Times == 0 {
				fs.rules = slices.DeleteFunc(fs.rules, func(f *Fault) bool { return f == rule })
			}
		}
		if rule.Err != nil || rule.Abort {
			break
		}
	}
	return met
}

// apply delays a request as its faults say, and returns the error to refuse it
// with.
func (fs *faults) apply(r *request) error {
	for _, f := range fs.take(r) {
		if err := wait(r, f.Delay); err != nil {
			return err
		}
		if f.Abort {
			return errAborted
		}
		if f.Err != nil {
			return f.Err
		}
	}
	return nil
}

func wait(r *request, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return errAborted
	}
}
