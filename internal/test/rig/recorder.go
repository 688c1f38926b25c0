package rig

import (
	"fmt"
	"sync"
	"testing/synctest"

	"github.com/kubetyped/informer/typed"
)

// Recorder is a handler that writes down its calls.
type Recorder struct {
	*typed.Registration // set by Rig.Record

	Hook func(call string) // guarded by mu; see Before

	mu    sync.Mutex
	calls []string // guarded by mu
}

// Before makes the handler call hook before it writes a call down, as Hook does
// from the beginning; it may block.
func (r *Recorder) Before(hook func(call string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Hook = hook
}

// Note writes a call down.
func (r *Recorder) Note(call string) {
	r.mu.Lock()
	hook := r.Hook
	r.mu.Unlock()
	if hook != nil {
		hook(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// OnAdd implements typed.Handler.
func (r *Recorder) OnAdd(obj *Thing, initial bool) {
	if initial {
		r.Note(fmt.Sprint("initial ", obj))
	} else {
		r.Note(fmt.Sprint("add ", obj))
	}
}

// OnUpdate implements typed.Handler.
func (r *Recorder) OnUpdate(old, updated *Thing) {
	if old == updated {
		r.Note(fmt.Sprint("resync ", updated))
	} else {
		r.Note(fmt.Sprint("update ", old, " ", updated))
	}
}

// OnDelete implements typed.Handler.
func (r *Recorder) OnDelete(d typed.Deleted[*Thing]) {
	r.Note(fmt.Sprint("delete ", d.Object, " ", d.Reason))
}

// All returns the calls so far.
func (r *Recorder) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.calls...)
}

// Next returns the calls since the last time, after everything has come to
// rest.
func (r *Recorder) Next() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}
