package main

// namespaceSets are bugs of informers on sets of namespaces.
var namespaceSets = []mutation{
	{
		bug:   "a change of a namespace overtakes the first lists of the others",
		in:    "typed/source.namespaceSink.change",
		old:   "	for !s.synced && !s.removed && !s.ended {\n		s.changed.Wait()\n	}\n",
		new:   "",
		suite: informers,
	},
	{
		bug:   "a relist of one namespace is taken for one of all",
		in:    "typed/source.namespaceSink.Replace",
		old:   "	at := s.advance()\n",
		new:   "	l.Namespace = \"\"\n	at := s.advance()\n",
		suite: informers,
	},
	{
		bug:   "the version is that of the namespace that is ahead",
		in:    "typed/source.namespaceGroup.advance",
		old:   "		if order < 0 {\n",
		new:   "		if order > 0 {\n",
		suite: reads,
	},
	{
		bug:   "the objects of a namespace that has left the set stay",
		in:    "typed/source.namespaceGroup.remove",
		old:   "		all.sink.Replace(List{Namespace: s.namespace, Reason: index.OutOfScope}, all.advance())\n",
		new:   "		all.advance()\n",
		suite: reads,
	},
	{
		bug:   "a namespace that has left the set goes on to report",
		in:    "typed/source.namespaceGroup.remove",
		old:   "	s.removed, s.first, s.unconfirmed = true, List{}, nil\n",
		new:   "	s.first = List{}\n",
		suite: reads,
	},
	{
		bug:   "a namespace that comes back to the set is not listed",
		in:    "typed/source.namespaceGroup.remove",
		old:   "	delete(all.byName, s.namespace)\n",
		new:   "",
		suite: reads,
	},
}

// readYourWrites are bugs of Expectations.
var readYourWrites = []mutation{
	{
		bug:   "versions are compared as texts",
		in:    "typed.atLeast",
		old:   "	return err == nil && order >= 0\n",
		new:   "	return err == nil && (order == 0 || current >= version)\n",
		suite: expectations,
	},
	{
		bug:   "a key that was put off is not added again",
		in:    "typed/control.Expectations.holdBack",
		old:   "		x.putOff = true\n",
		new:   "",
		suite: untold,
	},
	{
		bug:   "of two versions that are expected, the earlier one stays",
		in:    "typed.versionExpected.Covers",
		old:   "atLeast(e.waiter.version, o.waiter.version) &&\n",
		new:   "atLeast(o.waiter.version, e.waiter.version) &&\n",
		suite: expectations,
	},
	{
		bug:   "an object that was not seen yet counts as deleted",
		in:    "typed.deletionExpected.isReflected",
		old:   "	if !e.versionExpected.Met() {\n		return false\n	}\n",
		new:   "",
		suite: own,
	},
	{
		bug:   "what is met between the look and the watch is not noticed",
		in:    "typed/control.Expectations.note",
		old:   "	if it.Met() { // before anybody looked\n		return e.settle(x, it)\n	}\n",
		new:   "",
		suite: own,
	},
	{
		bug:   "the first of several expectations lets the key go",
		in:    "typed/control.Expectations.settle",
		old:   "	if len(x.unmet) == 1 {\n		return e.drop(x)",
		new:   "	if len(x.unmet) >= 1 {\n		return e.drop(x)",
		suite: expectations,
	},
	{
		bug:   "a write that changes nothing has its key processed again, for ever",
		in:    "typed/control.Expectations.listed",
		old:   "	if it.since.known {\n",
		new:   "	if it.since.known && it.since.lists == 1<<62 {\n",
		suite: noChange,
	},
	{
		bug:   "the store is at a version before it has the objects",
		in:    "typed.loop.apply",
		old:   "	waiters := l.commit(changes, version)\n",
		new:   "	if version != \"\" {\n		l.store.SetResourceVersion(version)\n		l.reached(version)\n	}\n	waiters := l.commit(changes, version)\n",
		suite: own,
	},
}
