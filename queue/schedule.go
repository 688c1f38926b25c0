package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubetyped/informer/internal/container"
)

// schedule holds the keys that wait, and decides whose turn it is. [WorkQueue] has the rules.
// The keys of one priority form a level. Within it, the keys of one tenant form a flow, which
// is first in, first out; the flows of a level take turns.
type schedule[K comparable] struct {
	ageing  uint64                    // a level that was passed over as often has the next turn
	len     int                       // keys that wait
	turns   uint64                    // keys that were handed out
	levels  []*level[K]               // with keys that wait, or the last that had, the one whose last turn is longest ago first
	spare   container.Spare[level[K]] // empty ones
	tenants tenants[K]
}

// level is what waits with one priority.
type level[K comparable] struct {
	priority int
	waiting  int                     // keys
	lastTurn uint64                  // turns when it had its last one, or came into being
	flows    container.List[flow[K]] // the one whose turn is next first
}

// push puts e at the end of its flow. One that was empty has its turn after all of its level.
func (s *schedule[K]) push(e *entry[K], now time.Duration) {
	f := e.tenant.flow(e.priority)
	if f.keys.First == nil {
		f.level = s.level(e.priority)
		f.level.flows.Append(&f.node)
	}
	e.since = now
	e.state |= waiting
	f.keys.Append(&e.node)
	f.level.waiting++
	s.len++
}

// pop takes the entry whose turn it is out of its flow. There has to be one.
func (s *schedule[K]) pop() *entry[K] {
	i := 0
	if s.turns-s.levels[0].lastTurn < s.ageing {
		for j, l := range s.levels {
			if l.priority > s.levels[i].priority {
				i = j
			}
		}
	}
	l := s.levels[i]
	s.turns++
	l.lastTurn = s.turns
	if i < len(s.levels)-1 {
		s.levels = append(slices.Delete(s.levels, i, i+1), l)
	}
	f := l.flows.First.Of
	e := f.keys.First.Of
	if l.flows.Last != &f.node && f.keys.Last != &e.node {
		l.flows.Remove(&f.node)
		l.flows.Append(&f.node)
	}
	s.remove(e, f)
	return e
}

// remove takes e out of its flow f, and out of sight what has become empty.
func (s *schedule[K]) remove(e *entry[K], f *flow[K]) {
	e.state &^= waiting
	f.keys.Remove(&e.node)
	s.len--
	l := f.level
	l.waiting--
	if f.keys.First == nil {
		l.flows.Remove(&f.node)
	}
	if l.waiting == 0 && len(s.levels) > 1 { // the only one is what the next key needs
		i := slices.Index(s.levels, l)
		s.levels = slices.Delete(s.levels, i, i+1)
		s.spare.Put(l, 16)
	}
}

// level returns the level of a priority. A new one has not been passed over.
func (s *schedule[K]) level(priority int) *level[K] {
	if s.len == 0 && len(s.levels) == 1 {
		l := s.levels[0]
		l.priority, l.lastTurn = priority, s.turns
		return l
	}
	for _, l := range s.levels {
		if l.priority == priority {
			return l
		}
	}
	l := s.spare.Get()
	l.priority, l.lastTurn = priority, s.turns
	s.levels = append(s.levels, l)
	return l
}

// depths returns how many keys wait by priority, the highest first, for up to n of them.
func (s *schedule[K]) depths(n int) []Depth {
	var all []Depth
	for _, l := range s.levels {
		if l.waiting > 0 {
			all = append(all, Depth{Priority: l.priority, Waiting: l.waiting})
		}
	}
	slices.SortFunc(all, func(a, b Depth) int { return cmp.Compare(b.Priority, a.Priority) })
	return all[:min(n, len(all)):min(n, len(all))]
}

// oldest returns what has waited longest, and when that took its place, or else nil and now.
func (s *schedule[K]) oldest(now time.Duration) (oldest *entry[K], since time.Duration) {
	since = now
	for _, l := range s.levels {
		for n := l.flows.First; n != nil; n = n.Next {
			if e := n.Of.keys.First.Of; oldest == nil || e.since < since {
				oldest, since = e, e.since
			}
		}
	}
	return oldest, since
}
