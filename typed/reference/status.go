package reference

import (
	"cmp"
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Status returns what the source follows. It may be called from anywhere.
func (s *Source[O, T]) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := Status{Limit: s.limit, LiveReads: s.liveReads.Load()}
	for _, e := range s.all {
		if e.holders > 0 {
			all.Held++
		} else {
			all.Idle++
		}
		switch e.state.Phase {
		case Pending:
			all.Pending = append(all.Pending, e.key)
		case Present:
			all.Present++
		case Absent:
			all.Absent = append(all.Absent, e.key)
		}
		if e.state.Err != nil {
			all.Refused = append(all.Refused, Refusal{e.key, e.state.Err, e.state.Since})
		}
	}
	for _, h := range s.owners {
		all.Unheld = append(all.Unheld, h.unheld...)
	}
	slices.SortFunc(all.Pending, compare)
	slices.SortFunc(all.Absent, compare)
	byKey := func(a, b Refusal) int { return compare(a.Key, b.Key) }
	slices.SortFunc(all.Refused, byKey)
	slices.SortFunc(all.Unheld, byKey)
	return all
}

// manyRefusals is how many Followed reports.
const manyRefusals = 20

// Followed implements source.Following: it is Status, in numbers.
func (s *Source[O, T]) Followed() source.Followed {
	all := s.Status()
	f := source.Followed{
		Held: all.Held, Idle: all.Idle, Limit: all.Limit, Pending: len(all.Pending), Present: all.Present,
		Absent: len(all.Absent), Refused: len(all.Refused), Unheld: len(all.Unheld), LiveReads: all.LiveReads,
	}
	for _, one := range slices.Concat(all.Refused, all.Unheld) {
		if len(f.Unfollowed) == manyRefusals {
			break
		}
		f.Unfollowed = append(f.Unfollowed, source.Unfollowed(one))
	}
	return f
}

// CountLiveRead counts a read that the caller has made by a request, as its key could not be
// followed, for Status, the page of an informer, and metrics.
func (s *Source[O, T]) CountLiveRead() { s.liveReads.Add(1) }

func compare(a, b index.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// State returns what is known of a key; the zero State if it is not followed.
func (s *keys[T]) State(key index.Key) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.all[key]; e != nil {
		return e.state
	}
	return State{}
}
