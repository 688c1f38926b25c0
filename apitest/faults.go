package apitest

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

// errAborted ends a request without an answer.
var errAborted = errors.New("request aborted")

// faults are the rules for requests to come. The zero value is ready.
type faults struct {
	mu    sync.Mutex
	rules []*Injection // guarded by mu
}

func (fs *faults) remove(in *Injection) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.rules = slices.DeleteFunc(fs.rules, func(other *Injection) bool { return other == in })
}

// take returns the rules that a request meets, counts them, and lets them act on the request's
// connection.
func (fs *faults) take(r *request) []*Injection {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var met []*Injection
	for _, in := range slices.Clone(fs.rules) {
		if !in.fault.matches(r) {
			continue
		}
		met = append(met, in)
		in.met++
		if in.left > 0 {
			if in.left--; in.left == 0 {
				fs.rules = slices.DeleteFunc(fs.rules, func(other *Injection) bool { return other == in })
			}
		}
		if in.fault.refuses(r) {
			break
		}
	}
	r.line.begin(r, met)
	return met
}

// carryOut does what a request asks for, as its faults let it.
func (s *Server) carryOut(w http.ResponseWriter, r *request) error {
	for _, in := range s.faults.take(r) {
		f := &in.fault
		if err := in.delay(r); err != nil {
			return err
		}
		if r.verb == "watch" && (f.sends() || f.End == Clean || f.End == Torn) {
			r.commands = append(r.commands, in.command(s.store.Revision()))
		}
		if !f.refuses(r) {
			continue
		}
		if f.Way == Answers && r.verb != "watch" {
			// The client does not learn the result.
			_ = s.dispatch(unheardOf{}, r)
		}
		return in.refuse(r)
	}
	return s.dispatch(w, r)
}

// delay keeps a request from the server.
func (in *Injection) delay(r *request) error {
	if !in.fault.there() {
		return nil
	}
	if in.fault.Latency > 0 {
		select {
		case <-time.After(in.fault.Latency):
		case <-r.Context().Done():
			return errAborted
		}
	}
	if in.fault.Freeze {
		done := r.Context().Done() // as soon as the client gives up, if the server notices
		if r.writes() {
			done = in.server.ctx.Done()
		}
		select {
		case <-in.lifted:
		case <-done:
			return errAborted
		}
	}
	return nil
}

// refuse ends a request, and returns the error to answer with.
func (in *Injection) refuse(r *request) error {
	switch f := &in.fault; {
	case f.HalfOpen:
		r.line.vanish(in)
	case f.Err != nil:
		return f.Err
	case f.End == Reset:
		r.line.reset()
	}
	return errAborted
}

// unheardOf is an answer that goes nowhere.
type unheardOf struct{}

func (unheardOf) Header() http.Header            { return http.Header{} }
func (unheardOf) Write(data []byte) (int, error) { return len(data), nil }
func (unheardOf) WriteHeader(int)                {}
