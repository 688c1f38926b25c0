package simulation

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// trace is what has happened, in order.
type trace struct {
	detailed bool // it is kept, and not only counted

	mu      sync.Mutex
	lines   []string           // guarded by mu
	count   int                // guarded by mu; of lines, also of those that are not kept
	renewed map[string]renewal // guarded by mu; by process, request for a Lease, and code
}

// renewal is a request for a Lease that was answered, and then repeated: each process of an
// election makes one every few seconds. One line stands for all of them.
type renewal struct {
	line  int    // its index
	text  string // of the first request
	times int    // how often it was repeated
}

// note adds a line: who does what.
func (w *world) note(who, format string, args ...any) {
	w.steps.Add(1)
	t := &w.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if t.detailed {
		t.lines = append(t.lines, w.line(who, format, args...))
	}
}

func (w *world) line(who, format string, args ...any) string {
	return fmt.Sprintf("%s  %-16s  %s", clock(w.elapsed()), who, fmt.Sprintf(format, args...))
}

// noteRenewal adds the line of an answer about a Lease, unless it repeats an earlier one: then
// the line of that one counts it. After a failure, or a write that differs from the last ones, all
// requests have lines again.
func (w *world) noteRenewal(who string, what target, code int, version string) {
	w.steps.Add(1)
	t := &w.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if !t.detailed {
		return
	}
	key := fmt.Sprint(who, " ", what, code)
	one, repeated := t.renewed[key]
	if repeated {
		one.times++
		t.lines[one.line] = fmt.Sprintf("%s, and %d times more until %s", one.text, one.times, clock(w.elapsed()))
		t.renewed[key] = one
		return
	}
	one = renewal{line: len(t.lines), text: w.line(who, "%s → %d%s", what, code, version)}
	t.lines = append(t.lines, one.text)
	if what.writes() || code >= http.StatusBadRequest || t.renewed == nil {
		t.renewed = map[string]renewal{} // another process leads, perhaps
	}
	if code < http.StatusBadRequest {
		t.renewed[key] = one
	}
}

// clock spells a moment of a simulation.
func clock(at time.Duration) string {
	return fmt.Sprintf("%02d:%02d:%09.6f", int(at.Hours()), int(at.Minutes())%60, (at % time.Minute).Seconds())
}

// noteAnswer notes a request that a server has answered.
func (w *world) noteAnswer(who, process string, what target, response *http.Response, text []byte) {
	version := ""
	if w.trace.detailed && response.StatusCode < http.StatusBadRequest {
		version = versionOf(text)
	}
	if what.resource == "leases.coordination.k8s.io" {
		w.noteRenewal(who, what, response.StatusCode, version)
	} else {
		w.note(who, "%s → %d%s", what, response.StatusCode, version)
	}
	if what.writes() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.writes = append(w.writes, Write{
			At: w.elapsed(), Process: process, Verb: what.verb, Resource: what.resource,
			Namespace: what.namespace, Name: what.name, Code: response.StatusCode,
		})
	}
}

// noteEvent notes that an event of a watch has arrived.
func (w *world) noteEvent(s *stream, text []byte) {
	if !w.trace.detailed {
		w.note(s.life.name(), "sees %d bytes of %s", len(text), s.what.resource)
		return
	}
	w.note(s.life.name(), "sees of %s, from server %d: %s", s.what.resource, s.server, describeEvent(text))
}

// logger returns what the contexts of a process have: its log is part of the trace.
func (w *world) logger(name string) logr.Logger {
	if !w.trace.detailed {
		return logr.Discard()
	}
	return funcr.New(func(prefix, args string) { w.note(name, "log: %s %s", prefix, args) }, funcr.Options{})
}
