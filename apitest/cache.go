package apitest

import (
	"time"
)

// patience is how long a server waits for its watch cache, and retryAfter how many seconds it
// then asks clients to wait.
const (
	patience   = 3 * time.Second
	retryAfter = 1
)

// cached returns the revision of the cache that a request is answered from, 0 for
// the present.
func (r *request) cached() uint64 {
	in := r.line.lag()
	if in == nil || in.since < r.collection.table.Oldest() {
		return 0
	}
	return in.since
}

// await waits for the cache to be at a revision that has been written, and returns
// that of the cache, 0 for the present. It returns a 504 status when that takes too
// long.
func (r *request) await(wanted uint64) (uint64, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		at := r.cached()
		in := r.line.lag()
		if at == 0 || in == nil || wanted <= at {
			return at, nil
		}
		select {
		case <-in.lifted:
			// Remove is about to spare the line.
			r.line.spare(in)
		case <-timer.C:
			return 0, tooLarge(wanted, at, retryAfter)
		case <-r.Context().Done():
			return 0, errAborted
		}
	}
}

// listAt returns the revision that a list is answered at, 0 for the present or
// what the list says itself.
func (s *Server) listAt(r *request, q *listQuery) (uint64, error) {
	present := s.store.Revision()
	switch exact, start, err := q.position(""); {
	case err != nil || exact > 0 || start != "" || q.options.Continue != "":
		return 0, nil // as page finds out
	case q.options.ResourceVersion == "":
		if _, err := r.await(present); err == errAborted {
			return 0, err
		}
		return 0, nil
	default:
		return r.notOlderThan(q.requested, present)
	}
}

// notOlderThan returns the revision of the cache once that is at a revision, 0 for
// the present, or when the revision has not been written.
func (r *request) notOlderThan(wanted, present uint64) (uint64, error) {
	if wanted > present {
		return 0, nil
	}
	return r.await(wanted)
}
