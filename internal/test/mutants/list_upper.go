package main

var ofBudgets = tests("typed", "Test.*Budget.*")

// upperRooms are bugs of the packages that stand on informers, which other lists leave out.
var upperRooms = []mutation{{
	bug: "objects that come when others leave are out of order",
	in:  "typed/view.group.keep",
	old: "			if i < g.sorted {\n",
	new: "			if i >= 0 {\n",
}, {
	bug: "a key that is gone finds the objects of another key",
	in:  "typed/view.arrangement.settle",
	old: "		delete(a.byKey, key)\n",
	new: "",
}, {
	bug: "a selector with several labels loses objects",
	in:  "typed/view.labelIndex.candidates",
	old: "			x.best, x.lists = x.lists, x.best\n",
	new: "			x.best = x.lists\n",
}, {
	bug: "an object without a namespace is matched twice by one selector",
	in:  "typed/view.selectorIndex.matching",
	old: "	if namespace != \"\" {\n",
	new: "	if len(x.spaces) > 0 {\n",
}, {
	bug: "objects keep a selector that was deleted",
	in:  "typed/view.selectors.step",
	old: "before.selector != nil {",
	new: "before.selector != nil && !isNone(c.now) {",
}, {
	bug: "an object that comes and goes in one step is counted off",
	in:  "typed/view.feed.dropUnchanged",
	old: "		if isNone(c.old) {\n",
	new: "		if isNone(c.old) && !isNone(c.now) {\n",
}, {
	bug: "a view that has ended is asked in the place of one that runs",
	in:  "typed/view.View.Run",
	old: "	defer v.running.remove(p)\n",
	new: "",
}, {
	bug: "a view that cannot follow an input goes on following the others",
	in:  "typed/view.program.follow",
	old: "p.inputs[:i]",
	new: "p.inputs[i:i]",
}, {
	bug: "two objects of one name that are made of one object share a row",
	in:  "typed/view.flattened.place",
	old: "			if row, found = byKey[index.KeyOf(obj)]; found {\n				delete(byKey, index.KeyOf(obj))\n			}\n",
	new: "			row, found = byKey[index.KeyOf(obj)]\n",
}, {
	bug: "a key is given up while objects that were left out of it are there",
	in:  "typed/view.reduced.step",
	old: "s.members == 0",
	new: "s.n == 0",
}, {
	bug: "a transform modifies changed objects of the inputs",
	in:  "typed/view.runner.changes",
	old: "Object: r.lend(c.now)",
	new: "Object: c.now",
}, {
	bug: "an object is joined by the labels of another one",
	in:  "typed/view.numbered.commit",
	old: "			clear(n.noted)\n			n.noted = n.noted[:0]\n			return\n",
	new: "			return\n",
}, {
	bug: "Status counts only the failures that it lists",
	in:  "typed/view.View.Status",
	old: "s.Failing = p.failing",
	new: "s.Failing = min(p.failing, maxFailures)",
}, {
	bug: "a lookup does not check its key function",
	in:  "typed/view.By",
	old: "	if o.checks {\n		keys = keys.checked()\n	}\n",
	new: "",
}, {
	bug: "informers do not learn that a discovery has synced",
	in:  "typed/fleet.Clusters.release",
	old: "	c.followers.Wake()\n",
	new: "",
}, {
	bug: "a deletion is looked for only once",
	in:  "typed/fleet.health.pass",
	old: "if !has || w.stays {",
	new: "if !has {",
}, {
	bug: "versions of one server count for the next one",
	in:  "typed/fleet.health.forgetVersions",
	old: "h.version, h.passed, h.reached = \"\", false, \"\"",
	new: "h.version = \"\"",
}, {
	bug: "a first list is passed on after its objects have expired",
	in:  "typed/fleet.member.drop",
	old: "	m.firsts.listed, m.firsts.list = false, nil\n",
	new: "",
}, {
	bug: "a source that has failed for good is run again when objects expire",
	in:  "typed/fleet.member.expire",
	old: "	if !m.health.isOver() {\n		m.begin(m.newSession(m.session.cluster))\n	}\n",
	new: "	m.begin(m.newSession(m.session.cluster))\n",
}, {
	bug: "objects of a namespace are counted again with each list",
	in:  "typed/fleet.names.removeNamespace",
	old: "	n.n -= len(n.in[namespace])\n",
	new: "",
}, {
	bug: "an error that was reported changes with the next failure",
	in:  "typed/fleet.troubles.set",
	old: "		t.failing = slices.Clone(t.failing)\n		t.failing[at] = failed\n",
	new: "		t.failing[at] = failed\n",
}, {
	bug: "a kubeconfig of others may send any file as a token",
	in:  "typed/fleet.checkComplete",
	old: "\"client-key\": user.ClientKey, \"tokenFile\": user.TokenFile,",
	new: "\"client-key\": user.ClientKey,",
}, {
	bug: "a configuration with another transport is the same",
	in:  "typed/fleet.isOne",
	old: " && a.Pointer() == b.Pointer()",
	new: "",
}, {
	bug: "a discovery that was closed early keeps informers from syncing",
	in:  "typed/fleet.Discovery.Close",
	old: "	d.clusters.release(&d.hold)\n",
	new: "",
}, {
	bug: "fleets: a step without changes is not confirmed",
	in:  "typed/fleet.session.Step",
	old: "if len(changes) > 0 || done != nil {",
	new: "if len(changes) > 0 {",
}, {
	bug: "a deletion adds no keys of the state before the last one",
	in:  "typed/control.enqueueFunc.OnDelete",
	old: "h.add(deleted.Old, deleted.Object, queue.AddOptions{})",
	new: "h.add(deleted.Object, deleted.Object, queue.AddOptions{})",
}, {
	bug: "keys of an object are added twice when there are many",
	in:  "typed/control.keySet.insert",
	old: "		for _, k := range s.few {\n			s.many[k] = struct{}{}\n		}\n",
	new: "",
}, {
	bug: "a filter decides on a deletion by the last state",
	in:  "typed/control.filter.OnDelete",
	old: "f.selected(deleted.Old)",
	new: "f.selected(deleted.Object)",
}, {
	bug: "keys that were put off are counted for good",
	in:  "typed/control.Expectations.drop",
	old: "	if x.putOff {\n		e.waiting--\n	}\n",
	new: "",
}, {
	bug: "an expectation never expires when its time was extended",
	in:  "typed/control.Expectations.expireFirst",
	old: "			e.deadlines.timer.Reset(left)\n",
	new: "",
}, {
	bug: "the lead is given up before the queues are drained",
	in:  "typed/control.runner.lead",
	old: "		if !led {\n",
	new: "		if !led || r.ending.Err() != nil {\n",
}, {
	bug: "handing over leaves no time to drain the queues",
	in:  "typed/control.runner.handOver",
	old: "r.drainTimeout/2",
	new: "r.drainTimeout",
}, {
	bug: "informers stop before the workers",
	in:  "typed/control.runner.run",
	old: "context.WithCancel(lasting)",
	new: "context.WithCancel(ctx)",
}, {
	bug: "an informer that has stopped is ready",
	in:  "typed/control.notReady",
	old: "s.Phase == report.PhaseSynced:",
	new: "s.Phase == report.PhaseSynced || s.Phase == report.PhaseStopped && s.Err == nil:",
}, {
	bug:   "objects that get larger are not weighed again",
	in:    "typed/observe.account.weigh",
	old:   " && now.Sub(a.weighedAt) < weighedEvery {",
	new:   " {",
	suite: ofBudgets,
}, {
	bug:   "a relist counts in addition to the objects that are there",
	in:    "typed/observe.account.list",
	old:   " - a.spentObjects.Load()",
	new:   "",
	suite: ofBudgets,
}, {
	bug:   "a budget warns only the first time",
	in:    "typed/observe.spending.settle",
	old:   "		s.since = time.Time{}\n",
	new:   "",
	suite: ofBudgets,
}, {
	bug:   "only the first call of a handler that hangs is logged",
	in:    "typed/observe.calls.begin",
	old:   "c.calling, c.typ, c.key, c.began, c.logged = true, t, key, now, false",
	new:   "c.calling, c.typ, c.key, c.began = true, t, key, now",
	suite: tests("typed", "TestSlowHandlers"),
}, {
	bug: "calls of an earlier minute count as recent ones",
	in:  "typed/observe.recent.add",
	old: "		*s = recentCalls{slot: slot}\n",
	new: "		s.slot = slot\n",
}, {
	bug:   "a modified object is not reported if it replaced another one that was",
	in:    "typed/observe.uidOf",
	old:   "ok := obj.(interface{ GetUID() types.UID }); ok {",
	new:   "ok := obj.(interface{ GetUID() types.UID }); ok && u == nil {",
	suite: tests("typed/observe", "TestMutationIsReportedOfAnObjectThatReplacesAnother"),
}, {
	bug:   "objects on record outlive the informer",
	in:    "typed/observe.detector.forget",
	old:   "	d.records = map[any]*record{}\n",
	new:   "",
	suite: tests("typed/observe", "TestRecordsAreReleased"),
}, {
	bug:   "objects that were replaced stay on record",
	in:    "typed/observe.detector.compare",
	old:   "		if left {\n",
	new:   "		if !exists {\n",
	suite: tests("typed/observe", "TestReplacedObjects.*"),
}, {
	bug:   "an option that times calls turns off the log of slow ones",
	in:    "typed/observe.callTimes.After",
	old:   "	if e, ok := earlier.(callTimes); ok && !c.slow {\n		return e\n	}\n",
	new:   "",
	suite: tests("typed", "TestCallTimes.*"),
}, {
	bug:   "a history is empty whenever it has been filled",
	in:    "typed/observe.history.note",
	old:   "h.next, h.full = 0, true",
	new:   "h.next = 0",
	suite: tests("typed", "TestExplain"),
}, {
	bug:   "metrics say that nothing waits after a batch",
	in:    "typed/observe.metrics.Observe",
	old:   "metrics.SetQueued(o.Queued())",
	new:   "metrics.SetQueued(0)",
	suite: tests("typed", "TestMetrics.*"),
}, {
	bug: "a deadline to write lasts until the next report",
	in:  "typed/inspect.send",
	old: "	_ = control.SetWriteDeadline(time.Time{})",
	new: "	//",
}, {
	bug: "the weights of a factory that was taken from the page are kept",
	in:  "typed/inspect.heaps.forget",
	old: "len(of.factories) > 0",
	new: "len(of.factories) < 0",
}, {
	bug: "informers that a factory gives up are kept until the next report",
	in:  "typed/inspect.heaps.expire",
	old: "		clear(h.known)\n",
	new: "",
}, {
	bug: "parts stay on the page when their context has ended",
	in:  "typed/inspect.Inspector.remove",
	old: "	i.joinParts()\n",
	new: "",
}, {
	bug: "index keys of Secrets are shown with contents",
	in:  "typed/inspect.keyInformerOf",
	old: "		if !secret {\n",
	new: "		if !secret || contents {\n",
}, {
	bug: "times on an open page stand still",
	in:  "typed/inspect.informerView.looksLike",
	old: " || !slices.Equal(v.ages(), other.ages()) {",
	new: " {",
}, {
	bug: "the budget of a factory is a problem of each of its informers",
	in:  "typed/inspect.finding.memory",
	old: "		f.factories[b.Since] = true\n",
	new: "",
}, {
	bug:   "failing keys that are not listed are not counted",
	in:    "typed/inspect.finding.queue",
	old:   "q.FailingKeys - named",
	new:   "len(q.Failing) - named",
	suite: tests("typed/inspect", "TestProblems.*"),
}, {
	bug: "a key of a fleet is split at its first slash",
	in:  "typed/inspect.parseKey",
	old: "strings.LastIndexByte(text, '/')",
	new: "strings.IndexByte(text, '/')",
}, {
	bug: "a foreign host is answered if its name ends like one of the page",
	in:  "typed/inspect.matches",
	old: "strings.HasPrefix(of, \".\") && ",
	new: "",
}, {
	bug: "a call that takes as long as a bound counts as longer",
	in:  "typed/report.CallTimes.Add",
	old: "took > CallBounds[bucket]",
	new: "took >= CallBounds[bucket]",
}, {
	bug: "the longest calls are missing in the number of calls",
	in:  "typed/report.CallTimes.Calls",
	old: "range t.Counts {",
	new: "range t.Counts[:len(CallBounds)] {",
}, {
	bug: "an informer of an adapter is said to be made by the adapter",
	in:  "typed/report.isOurs",
	old: "\"typed\", \"adapters\", \"internal\"",
	new: "\"typed\", \"internal\"",
}, {
	bug:   "the deletion of an object of another type is lost",
	in:    "adapters.sharedFeed.OnDelete",
	old:   "	case rejected.Key.Name != \"\":\n",
	new:   "	case rejected.Key.Name == \"\":\n",
	suite: tests("adapters", "TestFromSharedDeletesOtherTypes"),
}, {
	bug:   "the cost of the objects that one object is made into is their square",
	in:    "typed/view.flattened.place",
	old:   "if n := int(f.nth[row]); n >= len(now) || now[n] != row {",
	new:   "if !slices.Contains(now, row) {",
	suite: tests("typed/view", "TestCostOfAManyfoldObject"),
}, {
	bug:   "a transaction does not delete by key what it has added",
	in:    "adapters.indexer.changes",
	old:   "	return append(dst, index.Change[T]{Delete: true, Key: &key}), nil\n",
	new:   "	if _, ok := x.store.Get(key); !ok {\n		return dst, nil\n	}\n	return append(dst, index.Change[T]{Delete: true, Key: &key}), nil\n",
	suite: tests("adapters", "TestContractTransaction.*"),
}}
