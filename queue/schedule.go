package queue

import (
	"slices"
	"time"
)

// schedule holds the keys that wait, and decides whose turn it is. WorkQueue
// tells the rules.
//
// A key waits in the line of its priority and tenant, a line takes turns with
// the others of its level, which are those of the same priority.
type schedule[K comparable] struct {
	keys   *table[K, entry]
	fair   bool   // if not, all keys are of one tenant
	ageing uint64 // a level that was passed over as often has the next turn
	len    int    // keys that wait
	turns  uint64 // keys that were handed out

	levels   []*node[level]              // with keys that wait, highest priority first; one if none wait
	patience list[level]                 // the same, the one that waits longest for a turn first
	lines    table[lineKey, *node[line]] // if fair
	tenants  table[string, int]          // if fair; those who have keys, and how many
	owner    column[int32]               // if fair; the row of the tenant whose the key is

	spareLevels spares[level]
	spareLines  spares[line]
}

// level is what waits with one priority.
type level struct {
	priority int
	last     uint64     // turns when it had its last one, or came into being
	lines    list[line] // the one whose turn is next first
}

// line is what waits for one tenant with one priority, in order.
type line struct {
	keys  chain
	level *node[level]
	row   int32 // in lines, if fair
}

// lineKey names a line, by priority and the row of a tenant.
type lineKey struct {
	priority int
	tenant   int32
}

// hash needs no secret, as nobody chooses the rows of tenants.
func (k lineKey) hash() uint32 {
	priority := uint32(k.priority) ^ uint32(uint64(k.priority)>>32)
	return (priority*0x85EBCA6B ^ uint32(k.tenant)) * 0x9E3779B1
}

// push puts row n at the end of the line that its priority and tenant name.
func (s *schedule[K]) push(n int32, now time.Duration) {
	e := &s.keys.rows[n].value
	e.line = s.line(e.priority, n)
	e.joined = now
	e.state |= waiting
	link(s.keys.rows, &e.line.value.keys, n)
	s.len++
}

// pop takes the row whose turn it is out of its line. There has to be one.
func (s *schedule[K]) pop() int32 {
	l := s.levels[0]
	if p := s.patience.first; s.turns-p.value.last >= s.ageing {
		l = p
	}
	s.turns++
	l.value.last = s.turns
	if s.patience.last != l {
		s.patience.remove(l)
		s.patience.append(l)
	}
	first := l.value.lines.first
	keys := first.value.keys
	if keys.first != keys.last && l.value.lines.last != first {
		l.value.lines.remove(first)
		l.value.lines.append(first)
	}
	s.remove(keys.first)
	return keys.first
}

// remove takes row n out of its line.
func (s *schedule[K]) remove(n int32) {
	e := &s.keys.rows[n].value
	in := e.line
	e.line = nil
	e.state &^= waiting
	unlink(s.keys.rows, &in.value.keys, n)
	s.len--
	if in.value.keys.first == noRow {
		s.close(in)
	}
}

// take notes that the key of row n, which is new, is a tenant's.
func (s *schedule[K]) take(n int32, hash uint32, tenant string) {
	of := s.tenants.find(hash, tenant)
	if of == noRow {
		of = s.tenants.insert(hash, tenant)
		s.tenants.rows[of].value = 0
	}
	s.tenants.rows[of].value++
	*s.owner.at(n) = of
}

// give notes that the key of row n is gone, and with it its tenant, if it was
// the last one.
func (s *schedule[K]) give(n int32) {
	of := s.owner[n]
	if s.tenants.rows[of].value--; s.tenants.rows[of].value == 0 {
		s.tenants.delete(of)
	}
}

// line returns the line of a priority and the tenant of row n; a new one has its
// turn after all others of its level.
func (s *schedule[K]) line(priority int, n int32) *node[line] {
	at := s.level(priority)
	if !s.fair {
		if l := at.value.lines.first; l != nil {
			return l
		}
		return s.open(at, noRow)
	}
	key := lineKey{priority: priority, tenant: s.owner[n]}
	hash := key.hash()
	if row := s.lines.find(hash, key); row != noRow {
		return s.lines.rows[row].value
	}
	row := s.lines.insert(hash, key)
	l := s.open(at, row)
	s.lines.rows[row].value = l
	return l
}

func (s *schedule[K]) open(at *node[level], row int32) *node[line] {
	l := s.spareLines.take()
	l.value = line{keys: newChain(), level: at, row: row}
	at.value.lines.append(l)
	return l
}

// close gives up a line that has become empty, and its level with the last one.
// What the next key needs in any case is kept: the only line of a level, if the
// schedule is not fair, and the only level.
func (s *schedule[K]) close(l *node[line]) {
	at := l.value.level
	if s.fair {
		at.value.lines.remove(l)
		s.lines.rows[l.value.row].value = nil
		s.lines.delete(l.value.row)
		l.value.level = nil
		s.spareLines.keep(l)
		if at.value.lines.first != nil {
			return
		}
	}
	if len(s.levels) > 1 {
		i, _ := s.search(at.value.priority)
		s.levels = slices.Delete(s.levels, i, i+1)
		s.patience.remove(at)
		s.spareLevels.keep(at)
	}
}

// level returns the level of a priority. A new one has not been passed over.
func (s *schedule[K]) level(priority int) *node[level] {
	if s.len == 0 && len(s.levels) == 1 {
		l := s.levels[0]
		l.value.priority, l.value.last = priority, s.turns
		return l
	}
	i, found := s.search(priority)
	if found {
		return s.levels[i]
	}
	l := s.spareLevels.take()
	l.value.priority, l.value.last = priority, s.turns
	s.levels = slices.Insert(s.levels, i, l)
	s.patience.append(l)
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

// oldest returns when the first key of any line joined it, and now if no key
// waits.
func (s *schedule[K]) oldest(now time.Duration) time.Duration {
	if s.len == 0 {
		return now
	}
	for _, at := range s.levels {
		for l := at.value.lines.first; l != nil; l = l.next {
			now = min(now, s.keys.rows[l.value.keys.first].value.joined)
		}
	}
	return now
}
