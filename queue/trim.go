package queue

import "time"

// trimmer tells when a WorkQueue gives memory back. Its fields are guarded by the
// queue's lock.
//
// While the queue has more memory than it always keeps, it looks every
// trimPeriod at what it did not need since it last did, and gives that back, in
// steps between which it gives up its lock.
type trimmer struct {
	active  bool          // the queue has more memory than it always keeps
	inSteps bool          // it is giving memory back
	next    time.Duration // when to go on
}

const trimPeriod = 30 * time.Second

// trimLater makes the queue give memory back from now on, if it has much. The
// caller holds mu, and the queue is not shut down.
func (q *WorkQueue[K]) trimLater(now time.Duration) {
	if q.trimmer.active || !q.keys.isLarge() {
		return
	}
	q.trimmer = trimmer{active: true, next: now + trimPeriod}
	q.beginTrim() // what was needed before does not count
	q.wakeAt(q.trimmer.next)
}

// beginTrim decides what to give back, and begins to look at what is needed.
// The caller holds mu.
func (q *WorkQueue[K]) beginTrim() {
	q.keys.beginTrim()
	q.schedule.flows.beginTrim()
	q.schedule.tenants.beginTrim()
	q.delays.trim()
	q.schedule.freeFlows.trim()
}

// trim gives memory back if it is time to. It reports whether it is to be called
// again at trimmer.next. The caller holds mu.
func (q *WorkQueue[K]) trim(now time.Duration) bool {
	t := &q.trimmer
	if !t.active || now < t.next {
		return t.active
	}
	if !t.inSteps {
		q.beginTrim()
	}
	t.inSteps = q.keys.trim()
	t.inSteps = q.schedule.flows.trim() || t.inSteps
	t.inSteps = q.schedule.tenants.trim() || t.inSteps
	if !t.inSteps {
		t.next = now + trimPeriod
		t.active = q.keys.isLarge()
	}
	return t.active
}

// letGo gives all memory back if the queue is shut down and has no keys. The
// caller holds mu.
func (q *WorkQueue[K]) letGo() {
	if q.shutDown && q.keys.len == 0 {
		q.keys = newTable[K, entry]()
		q.schedule.letGo()
		q.delays = delayHeap{}
		if q.metrics != nil {
			q.metrics.added = paged[time.Duration]{}
		}
	}
}
