package queue

import "time"

const (
	kept       = 1024 // entries that are kept for ever
	smallMap   = 4096 // entries up to which a map that has become small is made anew
	trimPeriod = 30 * time.Second
	trimStep   = 4096 // entries that are looked at before the lock is given up for a moment
)

// need is how much of something was needed, in this period and the one before.
type need struct{ now, before int }

func (n *need) note(much int) { n.now = max(n.now, much) }
func (n *need) look(much int) { n.before, n.now = n.now, much }
func (n *need) lately() int   { return max(n.now, n.before) }

// shrinkMap is a map that gives memory back: by and by, what is in it moves to a new one.
type shrinkMap[K comparable, V any] struct {
	m    map[K]*V
	old  map[K]*V // what has not moved yet, nil if nothing moves
	most int      // the largest len since m was made
}

func (s *shrinkMap[K, V]) len() int { return len(s.m) + len(s.old) }

// get returns what is known of a key, nil if nothing is.
func (s *shrinkMap[K, V]) get(key K) *V {
	v := s.m[key]
	if v == nil && s.old != nil {
		v = s.old[key]
	}
	return v
}

// put adds a key that is not there.
func (s *shrinkMap[K, V]) put(key K, v *V) {
	if s.m == nil {
		s.m = map[K]*V{}
	}
	s.m[key] = v
	s.most = max(s.most, s.len())
}

func (s *shrinkMap[K, V]) delete(key K) {
	delete(s.m, key)
	delete(s.old, key)
}

// isLarge reports whether the map has more memory than it always keeps.
func (s *shrinkMap[K, V]) isLarge() bool { return s.most > 2*kept || s.old != nil }

// begin has what is left move to a new map, if that is little.
func (s *shrinkMap[K, V]) begin() {
	if s.isLarge() && s.old == nil && s.len() <= max(s.most/8, min(smallMap, s.most/2)) {
		s.old, s.m, s.most = s.m, map[K]*V{}, s.len()
	}
}

// move moves a part, and reports whether there is more.
func (s *shrinkMap[K, V]) move() bool {
	n := 0
	for key, v := range s.old {
		if n == trimStep {
			return true
		}
		s.m[key] = v
		delete(s.old, key)
		n++
	}
	s.old = nil
	return false
}

// memory tells when a WorkQueue gives memory back. While it has more than it always keeps,
// it looks every trimPeriod at what it did not need since it last did. Its fields are
// guarded by the queue's lock.
type memory struct {
	active  bool          // there is more than what is always kept
	inSteps bool          // it is being given back
	next    time.Duration // when to go on
	needed  need          // of entries that do not rest
}

// isLarge reports whether there is more memory than is always kept. The caller holds mu.
func (q *WorkQueue[K]) isLarge() bool {
	return q.keys.len() > kept || q.keys.isLarge() || q.schedule.tenants.by.isLarge()
}

// trimLater makes the queue give memory back from now on, if it has much. The caller holds
// mu, and the queue is not shut down.
func (q *WorkQueue[K]) trimLater(now time.Duration) {
	if !q.memory.active && q.isLarge() {
		q.memory.active, q.memory.next = true, now+trimPeriod
		q.wakeAt(q.memory.next)
	}
}

// trim gives memory back if it is time to. It reports whether it is to be called again, at
// memory.next. The caller holds mu.
func (q *WorkQueue[K]) trim(now time.Duration) bool {
	m := &q.memory
	if !m.active || now < m.next {
		return m.active
	}
	tenants := &q.schedule.tenants.by
	if !m.inSteps {
		m.needed.look(q.keys.len() - q.resting.len)
		q.delays.trim()
	}
	m.inSteps = q.forgetSome() || q.keys.move() || tenants.move()
	if !m.inSteps {
		q.keys.begin()
		tenants.begin()
		m.inSteps = q.keys.old != nil || tenants.old != nil
	}
	if !m.inSteps {
		m.next = now + trimPeriod
		m.active = q.isLarge()
	}
	return m.active
}

// letGo gives all memory back if the queue is shut down and no key is in it. The caller
// holds mu.
func (q *WorkQueue[K]) letGo() {
	if q.shutDown && q.keys.len() == q.resting.len {
		q.keys = shrinkMap[K, entry[K]]{}
		q.resting = resting[K]{}
		q.delays = delayHeap[K]{}
		q.schedule.tenants = newTenants[K](q.tenant != nil)
		q.schedule.levels, q.schedule.spare = nil, nil
	}
}
