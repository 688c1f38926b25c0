package main

// eventsAndHandlers are bugs of the event log, of joined events, and of handlers.
var eventsAndHandlers = foundBy(informers, []mutation{{
	bug: "joined: what came and went is told of as gone",
	in:  "typed.mergeEvents",
	old: "		return pending, false\n",
	new: "		return next, true\n",
}, {
	bug: "joined: an update tells the old object of its second half",
	in:  "typed.mergeEvents",
	old: "	next.Old = pending.Old\n	return next, true",
	new: "	return next, true",
}, {
	bug: "joined: what went and came back is told of as new",
	in:  "typed.mergeEvents",
	old: "		next.Type = index.Updated\n",
	new: "		next.Type = index.Added\n",
}, {
	bug: "joined: a resync is offered beside a change that waits",
	in:  "internal/eventlog.Fill.Offer",
	old: "changed || c.pending[k] != nil || c.closed {",
	new: "changed || c.closed {",
}, {
	bug: "joined: a resync offers what has changed since it began",
	in:  "internal/eventlog.Fill.Offer",
	old: "	if _, changed := f.changed[k]; changed || c.pending[k]",
	new: "	if c.pending[k]",
}, {
	bug: "joined: an event that is removed from the end of the line stays its end",
	in:  "internal/eventlog.Coalescer.remove",
	old: "		c.last = p.prev\n",
	new: "",
}, {
	bug: "the log lets go of what a slow reader has not read",
	in:  "internal/eventlog.Log.trim",
	old: "	for _, c := range l.cursors {\n		end = min(end, c.pos)\n	}\n",
	new: "	for _, c := range l.cursors[:min(1, len(l.cursors))] {\n		end = min(end, c.pos)\n	}\n",
}, {
	bug: "a new reader begins with what the log still has",
	in:  "internal/eventlog.Log.NewCursor",
	old: "	c.pos = l.head\n	c.done.Store(l.head)\n",
	new: "	c.pos = l.base\n	c.done.Store(l.base)\n",
}, {
	bug: "the position of a reader is behind by the batch that it has in hand",
	in:  "internal/eventlog.Cursor.Handled",
	old: "c.done.Store(c.done.Load() + 1)",
	new: "",
}, {
	bug: "the position of a reader is ahead by one",
	in:  "internal/eventlog.Cursor.Position",
	old: "return c.done.Load() }",
	new: "return c.done.Load() + 1 }",
}, {
	bug: "a reader that waits is not woken a second time",
	in:  "internal/eventlog.Cursor.Next",
	old: "	if c.pos == l.head {\n		c.waiting = true\n",
	new: "	if c.pos == l.head {\n		c.waiting = c.batch == 0 && c.pos == 0\n",
}, {
	bug: "a resync is queued after the moment that it tells of",
	in:  "typed.listener.resync",
	old: "		l.atHead(func(snapshot *index.Snapshot[T], head uint64) {\n			l.tasks.add(task[T]{at: head, snapshot: snapshot, periodic: periodic})\n		})\n",
	new: "		var due task[T]\n		l.atHead(func(snapshot *index.Snapshot[T], head uint64) {\n			due = task[T]{at: head, snapshot: snapshot, periodic: periodic}\n		})\n		if due.snapshot != nil {\n			l.tasks.add(due)\n		}\n",
}, {
	bug:   "a long period with jitter is over at once",
	in:    "typed.listener.nextPeriod",
	old:   "math.MaxInt64-l.period",
	new:   "math.MaxInt64",
	suite: tests("typed", "TestResyncJitterOfLongPeriods"),
}, {
	bug: "a resync of events to come tells of the objects as they are when it is asked for",
	in:  "typed.taskQueue.next",
	old: "	if position < first.at {\n		return task[T]{}, false\n	}\n",
	new: "",
}, {
	bug: "a late handler of a store with one object is not told of it",
	in:  "typed.Informer.add",
	old: "i.store.Len() > 0 {",
	new: "i.store.Len() > 1 {",
}, {
	bug: "a late handler is told of the objects after the first events",
	in:  "typed.listener.run",
	old: "	if l.initial != nil && !l.replay(l.initial, Event[T]{Type: index.Added, Reason: index.Initial}, emit) {\n		return\n	}\n",
	new: "	if !l.deliver(l.events.Next(), emit, batch) || l.initial != nil && !l.replay(l.initial, Event[T]{Type: index.Added, Reason: index.Initial}, emit) {\n		return\n	}\n",
}, {
	bug: "the source waits for a Block handler that was removed",
	in:  "typed.Registration.Remove",
	old: "	running := r.informer.leave(r)\n	r.reader.Close()\n",
	new: "	running := r.informer.leave(r)\n",
}, {
	bug:   "an object of the same name is the same object, whatever its UID",
	in:    "index.Indexer.appendPut",
	old:   "	if x.recreated != nil && x.recreated(old, obj) {\n",
	new:   "	if x.recreated != nil && x.literal && x.recreated(old, obj) {\n",
	suite: reads,
}, {
	bug:   "the list of a namespace does not end the wait for an object that can be used",
	in:    "typed.loop.commitList",
	old:   "	if first || changed && l.withheld {\n",
	new:   "	if first || changed && first {\n",
	suite: tests("typed", "TestWithheldListAndThenANamespace"),
}, {
	bug:   "nothing is called for lists that were withheld",
	in:    "typed.firstList.take",
	old:   "	f.wait(done)\n",
	new:   "	f.stored = done\n",
	suite: tests("typed", "TestDoneOfAWithheldList"),
}, {
	bug:   "Run drops a cause that comes after its source has returned",
	in:    "typed.Informer.Run",
	old:   "	if cause := final.Load(); cause != nil {\n",
	new:   "	if cause := final.Load(); cause != nil && err != nil {\n",
	suite: tests("typed", "TestRunReturnsTheCauseAfterItsSource"),
}, {
	bug:   "a list counts once more after a panic of an index function",
	in:    "typed.loop.commitList",
	old:   "	reason = cmp.Or(reason, index.Relisted)\n",
	new:   "	reason = cmp.Or(reason, index.Relisted)\n	if relist {\n		l.informer.relists.Add(1)\n		relist = false\n	}\n",
	suite: tests("typed", "TestPanicOfAnIndexFunction"),
}, {
	bug:   "a list that says that all is released is the first one",
	in:    "typed.hasEverything",
	old:   " && reason != index.Released",
	new:   "",
	suite: tests("typed", "TestRemovalOfEverythingIsNoFirstList"),
}, {
	bug:   "a handler that a task has removed is called once more",
	in:    "typed.listener.runTasks",
	old:   "	return !l.registration.stopped.Load()\n",
	new:   "	return true\n",
	suite: tests("typed", "TestRemovedByATask"),
}, {
	bug:   "a handler that was removed before its first call is called",
	in:    "typed.listener.replay",
	old:   "		if l.registration.stopped.Load() {\n			return false\n		}\n",
	new:   "",
	suite: tests("typed", "TestRemovedBeforeItsFirstCall"),
}, {
	bug:   "a list that the sink has rejected as a whole ends the wait for the first one",
	in:    "typed.loop.replace",
	old:   "	if l.withheld && len(kept) > 0 &&",
	new:   "	if l.withheld && len(kept) > 1 &&",
	suite: tests("typed", "TestRejectedByAnIndexFunctionAndThenByATransform"),
}, {
	bug:   "the last object of a withheld list leaves unseen if the sink has rejected it, too",
	in:    "typed.loop.apply",
	old:   "	if l.withheld || l.informer",
	new:   "	if l.informer",
	suite: tests("typed", "TestRejectedByAnIndexFunctionAndThenByATransform"),
}, {
	bug:   "a handler that hangs in a late object or a resync is never stuck",
	in:    "typed.listener.replay",
	old:   "	l.replays.Store(true)\n",
	new:   "",
	suite: tests("typed", "TestStuckInACopyOfTheStore"),
}, {
	bug:   "joined: what was not known to be there is updated",
	in:    "typed.mergeEvents",
	old:   "index.Added && index.Same(pending.Old, none):",
	new:   "index.Added && index.Same(pending.Old, none) && false:",
	suite: tests("typed", "TestJoinedLiteralDeletion"),
}, {
	bug:   "a stream of an informer that has stopped does not return the cause",
	in:    "typed.Informer.visit",
	old:   "			err = i.eventsEnd(ctx)",
	new:   "			_ = i.eventsEnd(ctx)",
	suite: tests("typed", "TestEventsReturnTheCauseOfTheirEnd"),
}, {
	bug:   "joined: a reader keeps the event that it has handled last",
	in:    "internal/eventlog.Coalescer.Handled",
	old:   "	clear(c.batch[:])",
	new:   "",
	suite: tests("typed", "TestReleaseAfterACallThatOutlastsRun"),
}})
