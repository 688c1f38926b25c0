package queue

// resting are the entries of keys that are not wanted now, the one that has rested longest
// first. They stay in the map, as a key is likely to come again. Only memory sees them. Keys
// that refer to other values, which they would keep alive, do not rest.
type resting[K comparable] struct {
	list[K]
	len int
}

// rest puts the entry of a key to rest that neither waits nor is delayed or in process. The
// caller holds mu.
func (q *WorkQueue[K]) rest(e *entry[K]) {
	q.resting.append(e)
	if q.resting.len++; !q.rests {
		q.forget(e)
	}
}

// getUp ends the rest of an entry. The caller holds mu.
func (q *WorkQueue[K]) getUp(e *entry[K]) {
	q.resting.remove(e)
	q.resting.len--
}

// newEntry returns an entry for a key that has none: a new one, or the one that has rested
// longest, if there are as many as were needed lately. The caller holds mu.
func (q *WorkQueue[K]) newEntry(key K, tenant string) *entry[K] {
	e := q.resting.first
	if e != nil && q.keys.len() >= q.memory.keeps() {
		q.forget(e)
		*e = entry[K]{}
	} else {
		e = &entry[K]{}
	}
	e.key = key
	e.tenant = q.schedule.tenants.of(tenant)
	q.keys.put(key, e)
	return e
}

// keeps returns how many entries are kept.
func (m *memory) keeps() int { return max(kept, m.needed.lately()) }

// forget takes an entry that rests out of the map. The caller holds mu.
func (q *WorkQueue[K]) forget(e *entry[K]) {
	q.getUp(e)
	q.keys.delete(e.key)
	q.schedule.tenants.leave(e.tenant)
}

// forgetSome takes out entries that have rested longest, if there are more than were needed
// lately. It reports whether there are more of them. The caller holds mu.
func (q *WorkQueue[K]) forgetSome() bool {
	for range trimStep {
		if q.resting.first == nil || q.keys.len() <= q.memory.keeps() {
			return false
		}
		q.forget(q.resting.first)
	}
	return true
}
