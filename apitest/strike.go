package apitest

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"
)

// strike lets a fault act on the open watches that it is about, and returns how many there are.
func (ss *streams) strike(in *Injection) int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	struck := 0
	for st := range ss.open {
		if !in.fault.matches(st.request) {
			continue
		}
		struck++
		if in.fault.endsWatches() {
			delete(ss.open, st)
		}
		if in.fault.endsWatches() || in.fault.sends() {
			st.post(in.command(in.server.store.Revision()))
		}
	}
	ss.announce()
	return struck
}

// command returns the command by which the fault acts on an open watch. If the fault sends
// something, that comes after everything up to a revision.
func (in *Injection) command(after uint64) command {
	if !in.fault.sends() {
		after = 0
	}
	return command{after: after, do: func(st *stream) error {
		if err := in.send(st); err != nil {
			return err
		}
		return in.end(st)
	}}
}

// send sends what the fault has for open watches.
func (in *Injection) send(st *stream) error {
	e := in.fault.Event
	switch {
	case e.Object != nil:
		if err := st.write(st.format.EncodeRawEvent(e.Type, e.Object)); err != nil {
			return err
		}
	case e.Type == watch.Bookmark && st.options.AllowWatchBookmarks:
		if err := st.bookmark(nil); err != nil {
			return err
		}
	}
	if len(in.fault.Bytes) > 0 {
		return st.write(in.fault.Bytes, nil)
	}
	return nil
}

// end ends an open watch.
func (in *Injection) end(st *stream) error {
	f := &in.fault
	switch {
	case f.HalfOpen:
		st.request.line.vanish(in)
		return errAborted
	case f.Err != nil:
		return st.fail(f.Err)
	}
	switch f.End {
	case Whole:
		return nil
	case Clean:
		return errors.Join(errEnded, st.flushed())
	case Torn:
		if err := st.tear(); err != nil {
			return err
		}
	}
	err := errors.Join(errAborted, st.flushed())
	if f.End == Reset {
		st.request.line.reset()
	}
	return err
}

// tear writes the first half of an event.
func (st *stream) tear() error {
	data, err := st.format.EncodeEvent(watch.Bookmark, st.mark(nil))
	if err != nil {
		return err
	}
	return st.write(data[:len(data)/2], nil)
}
