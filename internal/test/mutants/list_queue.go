package main

// workQueue are bugs of the WorkQueue.
var workQueue = foundBy(queues, []mutation{{
	bug: "a key that is added while it is processed is lost",
	in:  "queue.WorkQueue.enqueue",
	old: "	case e.inState(processing):\n		e.state |= dirty\n		e.nextPriority = priority\n		q.dirty++\n",
	new: "	case e.inState(processing):\n		return\n",
}, {
	bug: "two workers get one key",
	in:  "queue.WorkQueue.enqueue",
	old: "	case e.inState(processing):\n		e.state |= dirty\n",
	new: "	case e.inState(processing) && e.priority != priority:\n		e.state |= dirty\n",
}, {
	bug: "a delay that ends while its key is processed is lost",
	in:  "queue.WorkQueue.endDelay",
	old: "	q.delays.Remove(&e.item)\n",
	new: "	q.delays.Remove(&e.item)\n	if e.inState(processing) {\n		return\n	}\n",
}, {
	bug: "of two delays, the later one counts",
	in:  "queue.WorkQueue.delay",
	old: "	if due < q.delays.Due(&e.item) {\n",
	new: "	if due > q.delays.Due(&e.item) {\n",
}, {
	bug: "a shorter delay does not wake the queue earlier",
	in:  "internal/timing.Alarm.At",
	old: "	case at < a.next:\n		a.next = at\n		a.Now()\n",
	new: "",
}, {
	bug: "a key that has failed is not tried again",
	in:  "queue.run.retry",
	old: "	r.AddRateLimited(key)\n",
	new: "",
}, {
	bug: "what has succeeded counts as failed the next time",
	in:  "queue.run.settled",
	old: "	r.Forget(key)\n	if terminal {\n",
	new: "	if terminal {\n",
}, {
	bug: "no worker is woken for a key whose delay has ended",
	in:  "queue.WorkQueue.catchUp",
	old: "	q.unlock()\n	return now, next\n",
	new: "	q.mu.Mutex.Unlock()\n	return now, next\n",
}, {
	bug: "a delayed key that is handed out loses its delay",
	in:  "queue.WorkQueue.handOut",
	old: "	e.state |= processing\n",
	new: "	if e.inState(delayed) {\n		e.state &^= delayed\n		q.delays.Remove(&e.item)\n	}\n	e.state |= processing\n",
}, {
	bug:   "the gauges of a queue stay as they are when it ends",
	in:    "queue.WorkQueue.endEmpty",
	old:   "	if m := q.metrics; m != nil {\n",
	new:   "	if m := q.metrics; m != nil && now < 0 {\n",
	suite: tests("queue", "TestGaugesOfEndedQueueAreZero"),
}, {
	bug:   "a worker that a metric keeps from sleeping counts as one that sleeps",
	in:    "queue.WorkQueue.sleep",
	old:   "		if !back {",
	new:   "		if !back && ctx == nil {",
	suite: tests("queue", "TestMetricPanicsAsAWorkerFallsAsleep"),
}, {
	bug:   "keys that were handed out at a time that is not known hide those that are stuck",
	in:    "queue.WorkQueue.snapshot",
	old:   "			continue\n",
	new:   "			break\n",
	suite: tests("queue", "TestReportOfStuckKeysBehindOthers"),
}})

// combining are bugs of adds that are left to who holds the lock.
var combining = []mutation{{
	bug: "who takes the lock leaves what was left",
	in:  "internal/monitor.Lock.Lock",
	old: "	l.CatchUp()\n",
	new: "",
}, {
	bug: "who tries the lock leaves what was left",
	in:  "internal/monitor.Lock.TryLock",
	old: "	l.CatchUp()\n",
	new: "",
}, {
	bug: "a lock that is taken counts as free",
	in:  "internal/monitor.Lock.TryLock",
	old: "		return false\n",
	new: "		return true\n",
}, {
	bug: "what is left just before the lock is given up waits for the next who takes it",
	in:  "internal/monitor.Lock.Unlock",
	old: "	return l.left.Load() != nil && l.Mutex.TryLock()\n",
	new: "	return false\n",
}, {
	bug: "who gives up the lock takes it again for nothing",
	in:  "internal/monitor.Lock.Unlock",
	old: "l.left.Load() != nil && l.Mutex.TryLock()",
	new: "l.Mutex.TryLock()",
}, {
	bug: "who has left something does not try the lock once more",
	in:  "internal/monitor.Lock.Leave",
	old: "	return l.Mutex.TryLock()\n",
	new: "	return false\n",
}, {
	bug: "of two that leave something at once, one is lost",
	in:  "internal/monitor.Lock.Leave",
	old: "	for pushed := false; !pushed; pushed = l.left.CompareAndSwap(r.next, r) {\n		r.next = l.left.Load()\n	}\n",
	new: "	r.next = l.left.Load()\n	runtime.Gosched()\n	l.left.Store(r)\n",
}, {
	bug: "what was left before is lost",
	in:  "internal/monitor.Lock.Leave",
	old: "		r.next = l.left.Load()\n",
	new: "		r.next = nil\n		l.left.Store(nil)\n",
}, {
	bug: "what was left last is done first",
	in:  "internal/monitor.Lock.takeOver",
	old: "	for r := l.left.Swap(nil); r != nil; {\n		next := r.next\n		r.next, l.taken = l.taken, r\n		r = next\n	}\n",
	new: "	l.taken = l.left.Swap(nil)\n",
}, {
	bug: "what was left meanwhile is lost",
	in:  "internal/monitor.Lock.takeOver",
	old: "	for r := l.left.Swap(nil); r != nil; {\n",
	new: "	r := l.left.Load()\n	runtime.Gosched()\n	l.left.Store(nil)\n	for r != nil {\n",
}, {
	bug: "one of those that were left is done",
	in:  "internal/monitor.Lock.Next",
	old: "	l.taken = r.next\n",
	new: "	l.taken = nil\n",
}, {
	bug: "what was done is kept alive",
	in:  "internal/monitor.Lock.Next",
	old: "	*r = request[R]{}\n",
	new: "	r.next = nil\n",
}, {
	bug: "what was done refers to what comes after it",
	in:  "internal/monitor.Lock.Next",
	old: "	*r = request[R]{}\n",
	new: "	*r = request[R]{next: r.next}\n",
}, {
	bug:   "requests are not used again",
	in:    "internal/monitor.Lock.Next",
	old:   "	l.spare.Put(r)\n",
	new:   "",
	suite: tests("queue", ".*"),
}, {
	bug: "requests that are free are the same one",
	in:  "internal/monitor.Lock.get",
	old: "		l.spare.Put(&more[1+i])\n",
	new: "		l.spare.Put(&more[i*0])\n",
}, {
	bug: "who gives up the lock does not do what was left",
	in:  "queue.WorkQueue.unlock",
	old: "		q.mu.CatchUp()\n",
	new: "",
}, {
	bug: "nobody is woken for what waits",
	in:  "queue.WorkQueue.unlock",
	old: "q.sleepers.Next(q.schedule.len)",
	new: "q.sleepers.Next(0)",
}, {
	bug: "the lock is not given up again",
	in:  "queue.WorkQueue.unlock",
	old: "		again = q.mu.Unlock()\n",
	new: "		q.mu.Unlock()\n		again = false\n",
}, {
	bug: "an add that is left has the time at which it is made",
	in:  "queue.WorkQueue.leave",
	old: "		r.at = q.time.Now()\n",
	new: "		_ = q.time.Now()\n",
}, {
	bug: "an add is left before the clock panics",
	in:  "queue.WorkQueue.leave",
	old: "	if !q.time.Real {\n		r.at = q.time.Now()\n	}\n	if q.mu.Leave(*r) {\n		q.unlock()\n	}\n",
	new: "	held := q.mu.Leave(*r)\n	if !q.time.Real {\n		r.at = q.time.Now()\n	}\n	if held {\n		q.unlock()\n	}\n",
}, {
	bug: "who leaves an add and finds the lock free keeps it",
	in:  "queue.WorkQueue.leave",
	old: "		q.unlock()\n",
	new: "",
}, {
	bug: "who makes an add that he has left wakes nobody",
	in:  "queue.WorkQueue.leave",
	old: "		q.unlock()\n",
	new: "		q.mu.CatchUp()\n		q.mu.Mutex.Unlock()\n",
}, {
	bug: "an add that was left is as old as the queue",
	in:  "queue.WorkQueue.makeLeft",
	old: "		now = q.time.Now()\n",
	new: "		now = 0\n",
}, {
	bug: "an add that was left forgets its time",
	in:  "queue.WorkQueue.makeLeft",
	old: "		r.at = max(r.at, now)\n",
	new: "		r.at = now\n",
}, {
	bug: "what was left is dropped",
	in:  "queue.WorkQueue.makeLeft",
	old: "		_ = q.add(&r) ",
	new: "		_ = now ",
}, {
	bug: "what was left is dropped when a metric panics",
	in:  "queue.WorkQueue.crashed",
	old: "		q.makeLeft()\n",
	new: "		for _, ok := q.mu.Next(); ok; _, ok = q.mu.Next() {\n		}\n",
}, {
	bug: "the lock is held when a metric has panicked",
	in:  "queue.WorkQueue.crashed",
	old: "		q.unlock()\n",
	new: "",
}, {
	bug: "the lock is held when a clock has panicked",
	in:  "queue.WorkQueue.timeOrUnlock",
	old: "			q.unlock()\n",
	new: "			_ = 0\n",
}, {
	bug: "TryAdd leaves its add, and says that it was made",
	in:  "queue.WorkQueue.put",
	old: "	case !r.bounded:\n",
	new: "	case true:\n",
}}
