package queue

import (
	"slices"
	"time"
)

// schedule holds the keys that wait, and decides whose turn it is. [WorkQueue]
// has the rules.
//
// The keys of one priority form a level. Within a level, the keys of one tenant
// form a flow, which is first in, first out; the flows of a level take turns.
type schedule[K comparable] struct {
	keys   *table[K, entry]
	fair   bool   // if not, all keys are of one tenant
	ageing uint64 // a level that was passed over as often has the next turn
	len    int    // keys that wait
	turns  uint64 // keys that were handed out

	levels     []*node[level]              // with keys that wait, highest priority first; one if none wait
	byLastTurn list[level]                 // the same, the one whose last turn is longest ago first
	flows      table[flowKey, *node[flow]] // if fair
	tenants    table[string, int]          // if fair; those that have keys, and how many
	tenantOf   paged[int32]                // if fair; the row in tenants for each row in keys

	freeLevels freeList[level]
	freeFlows  freeList[flow]
}

// level is what waits with one priority.
type level struct {
	priority int
	waiting  int        // keys
	lastTurn uint64     // turns when it had its last one, or came into being
	flows    list[flow] // the one whose turn is next first
}

// flow is what waits for one tenant with one priority, in order.
type flow struct {
	keys  rowList
	level *node[level]
	row   int32 // in flows, if fair
}

// flowKey names a flow, by priority and the row of a tenant.
type flowKey struct {
	priority int
	tenant   int32
}

// hash needs no secret, as nobody chooses the rows of tenants.
func (k flowKey) hash() uint32 {
	priority := uint32(k.priority) ^ uint32(uint64(k.priority)>>32)
	return (priority*0x85EBCA6B ^ uint32(k.tenant)) * 0x9E3779B1
}

// push puts row n, whose entry is e, at the end of the flow of its priority and
// tenant.
func (s *schedule[K]) push(n int32, e *entry, now time.Duration) {
	e.flow = s.flow(e.priority, n)
	e.since = now
	e.state |= waiting
	appendRow(s.keys, &e.flow.value.keys, n, e)
	e.flow.value.level.value.waiting++
	s.len++
}

// pop takes the row whose turn it is out of its flow, and returns its number, too.
// There has to be one.
func (s *schedule[K]) pop() (*row[K, entry], int32) {
	l := s.levels[0]
	if p := s.byLastTurn.first; s.turns-p.value.lastTurn >= s.ageing {
		l = p
	}
	s.turns++
	l.value.lastTurn = s.turns
	if s.byLastTurn.last != l {
		s.byLastTurn.remove(l)
		s.byLastTurn.append(l)
	}
	first := l.value.flows.first
	keys := first.value.keys
	if keys.first != keys.last && l.value.flows.last != first {
		l.value.flows.remove(first)
		l.value.flows.append(first)
	}
	r := s.keys.row(keys.first)
	s.remove(&r.value)
	return r, keys.first
}

// remove takes the row whose entry is e out of its flow.
func (s *schedule[K]) remove(e *entry) {
	in := e.flow
	e.flow = nil
	e.state &^= waiting
	removeRow(s.keys, &in.value.keys, e)
	in.value.level.value.waiting--
	s.len--
	if in.value.keys.first == noRow {
		s.close(in)
	}
}

// addKey notes that the key of row n is new, and whose it is.
func (s *schedule[K]) addKey(n int32, hash uint32, tenant string) {
	of := s.tenants.find(hash, tenant)
	if of == noRow {
		of = s.tenants.insert(hash, tenant)
		s.tenants.row(of).value = 0
	}
	s.tenants.row(of).value++
	*s.tenantOf.reserve(n) = of
}

// removeKey notes that the key of row n is gone, and its tenant if that has no
// other.
func (s *schedule[K]) removeKey(n int32) {
	of := *s.tenantOf.at(n)
	if s.tenants.row(of).value--; s.tenants.row(of).value == 0 {
		s.tenants.delete(of)
	}
}

// flow returns the flow of a priority and the tenant of row n. A new one has its
// turn after all others of its level.
func (s *schedule[K]) flow(priority int, n int32) *node[flow] {
	at := s.level(priority)
	if !s.fair {
		if l := at.value.flows.first; l != nil {
			return l
		}
		return s.open(at, noRow)
	}
	key := flowKey{priority: priority, tenant: *s.tenantOf.at(n)}
	hash := key.hash()
	if row := s.flows.find(hash, key); row != noRow {
		return s.flows.row(row).value
	}
	row := s.flows.insert(hash, key)
	l := s.open(at, row)
	s.flows.row(row).value = l
	return l
}

func (s *schedule[K]) open(at *node[level], row int32) *node[flow] {
	l := s.freeFlows.get()
	l.value = flow{keys: newRowList(), level: at, row: row}
	at.value.flows.append(l)
	return l
}

// close removes a flow that has become empty, and its level if that has no other.
// What the next key needs in any case is kept: the only flow of a level, if the
// schedule is not fair, and the only level.
func (s *schedule[K]) close(l *node[flow]) {
	at := l.value.level
	if s.fair {
		at.value.flows.remove(l)
		s.flows.row(l.value.row).value = nil
		s.flows.delete(l.value.row)
		l.value.level = nil
		s.freeFlows.put(l)
		if at.value.flows.first != nil {
			return
		}
	}
	if len(s.levels) > 1 {
		i, _ := s.search(at.value.priority)
		s.levels = slices.Delete(s.levels, i, i+1)
		s.byLastTurn.remove(at)
		s.freeLevels.put(at)
	}
}

// level returns the level of a priority. A new one has not been passed over.
func (s *schedule[K]) level(priority int) *node[level] {
	if s.len == 0 && len(s.levels) == 1 {
		l := s.levels[0]
		l.value.priority, l.value.lastTurn = priority, s.turns
		return l
	}
	i, found := s.search(priority)
	if found {
		return s.levels[i]
	}
	l := s.freeLevels.get()
	l.value.priority, l.value.lastTurn = priority, s.turns
	s.levels = slices.Insert(s.levels, i, l)
	s.byLastTurn.append(l)
	return l
}

// search returns where among the levels a priority is, or belongs.
func (s *schedule[K]) search(priority int) (int, bool) {
	low, high := 0, len(s.levels)
	for low < high {
		mid := int(uint(low+high) / 2)
		if s.levels[mid].value.priority > priority {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(s.levels) && s.levels[low].value.priority == priority
}

// letGo gives all memory back. No key waits.
func (s *schedule[K]) letGo() {
	s.levels, s.byLastTurn = nil, list[level]{}
	s.flows = newTable[flowKey, *node[flow]]()
	s.tenants = newTable[string, int]()
	s.tenantOf = paged[int32]{}
	s.freeLevels, s.freeFlows = freeList[level]{}, freeList[flow]{}
}

// oldest returns the row whose key has waited longest, and when that took its
// place, noRow and now if no key waits.
func (s *schedule[K]) oldest(now time.Duration) (int32, time.Duration) {
	oldest := noRow
	if s.len == 0 {
		return oldest, now
	}
	for _, at := range s.levels {
		for l := at.value.flows.first; l != nil; l = l.next {
			first := l.value.keys.first
			if since := s.keys.row(first).value.since; since < now || oldest == noRow {
				oldest, now = first, since
			}
		}
	}
	return oldest, now
}
