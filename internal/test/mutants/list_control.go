package main

// namespaceSets are bugs of informers on sets of namespaces.
var namespaceSets = []mutation{{
	bug:   "a change of a namespace overtakes the first lists of the others",
	in:    "typed/source.namespaceSink.change",
	old:   "	for !s.synced && !s.removed && !s.ended {\n		s.changed.Wait()\n	}\n",
	new:   "",
	suite: informers,
}, {
	bug:   "a relist of one namespace is taken for one of all",
	in:    "typed/source.namespaceSink.Replace",
	old:   "	at := s.advance()\n",
	new:   "	l.Namespace = \"\"\n	at := s.advance()\n",
	suite: informers,
}, {
	bug:   "the version is that of the namespace that is ahead",
	in:    "typed/source.namespaceGroup.advance",
	old:   "		if order < 0 {\n",
	new:   "		if order > 0 {\n",
	suite: reads,
}, {
	bug:   "the objects of a namespace that has left the set stay",
	in:    "typed/source.namespaceGroup.remove",
	old:   "		all.sink.Replace(List{Namespace: s.namespace, Reason: index.OutOfScope}, all.advance())\n",
	new:   "		all.advance()\n",
	suite: reads,
}, {
	bug:   "a namespace that has left the set goes on to report",
	in:    "typed/source.namespaceGroup.remove",
	old:   "	s.removed, s.first, s.unconfirmed = true, List{}, nil\n",
	new:   "	s.first = List{}\n",
	suite: reads,
}, {
	bug:   "a namespace that comes back to the set is not listed",
	in:    "typed/source.namespaceGroup.remove",
	old:   "	delete(all.byName, s.namespace)\n",
	new:   "",
	suite: reads,
}, {
	bug:   "Run drains a queue that has no workers",
	in:    "typed/control.runner.work",
	old:   "			if err != nil { // unless it is drained\n				left()\n			}\n",
	new:   "			_ = left\n",
	suite: tests("typed/control", "TestRunWorkersEnd"),
}}

// leftOutFields are bugs in reports that a source leaves out a needed field.
var leftOutFields = []mutation{{
	bug:   "nobody looks whether the source of a namespace leaves out what is needed",
	in:    "typed/source.Opened.Add",
	old:   "		if Omits(src, field) {\n",
	new:   "		if field == \"\" {\n",
	suite: tests("typed/source", "TestOmits"),
}, {
	bug:   "a source that has ended counts as one that leaves a field out",
	in:    "typed/source.Opened.Add",
	old:   "return other == one",
	new:   "return other != one",
	suite: tests("typed/source", "TestOmits"),
}, {
	bug:   "a projection does not say which fields are needed",
	in:    "typed/source.projection.Decoding",
	old:   "		decoding.Needs = of.Needs\n",
	new:   "		decoding.Needs = nil\n",
	suite: tests("typed/source", "TestOmits"),
}, {
	bug:   "a fleet does not say which fields are needed",
	in:    "typed/fleet.session.Decoding",
	old:   ", Needs: of.Needs",
	new:   "",
	suite: tests("typed/fleet", "TestOmits"),
}, {
	bug:   "a part of what is shared is not looked at for what it leaves out",
	in:    "typed/shard.part.run",
	old:   "return q.Decoding().Needs",
	new:   "return nil",
	suite: tests("typed/shard", "TestOmits"),
}, {
	bug:   "what indexes need is forgotten when a source is opened",
	in:    "typed.Informer.needs",
	old:   "			fields = append(fields, needsOf(x)...)\n",
	new:   "			needsOf(x)\n",
	suite: tests("typed/kube", "TestFieldsOfSourcesOpenedLater"),
}, {
	bug:   "what followers need is forgotten when a source is opened",
	in:    "typed.Informer.needs",
	old:   "		fields = append(fields, needsOf(*f)...)\n",
	new:   "		needsOf(*f)\n",
	suite: tests("typed/kube", "TestFieldsOfSourcesOpenedLater"),
}, {
	bug:   "a view does not say what is needed of it",
	in:    "typed/view.program.needs",
	old:   "		if slices.Contains(p.passed, from) {\n",
	new:   "		if p.passed == nil && slices.Contains(p.passed, from) {\n",
	suite: tests("typed/kube", "TestFieldsOfSourcesOpenedLater"),
}, {
	bug:   "a view does not say that it selects by labels",
	in:    "typed/view.definition.needLabels",
	old:   "		from.selected.Store(true)\n",
	new:   "",
	suite: tests("typed/kube", "TestFieldsOfSourcesOpenedLater"),
}}

// readYourWrites are bugs of Expectations.
var readYourWrites = []mutation{{
	bug:   "versions are compared as texts",
	in:    "typed.atLeast",
	old:   "	return err == nil && order >= 0\n",
	new:   "	return err == nil && (order == 0 || current >= version)\n",
	suite: expectations,
}, {
	bug:   "a key that was put off is not added again",
	in:    "typed/control.Expectations.holdBack",
	old:   "		x.putOff = true\n",
	new:   "",
	suite: untold,
}, {
	bug:   "of two versions that are expected, the earlier one stays",
	in:    "typed.versionExpected.Covers",
	old:   "atLeast(e.waiter.version, o.waiter.version) &&\n",
	new:   "atLeast(o.waiter.version, e.waiter.version) &&\n",
	suite: expectations,
}, {
	bug:   "an object that was not seen yet counts as deleted",
	in:    "typed.deletionExpected.isReflected",
	old:   "	if !e.versionExpected.Met() {\n		return false\n	}\n",
	new:   "",
	suite: own,
}, {
	bug:   "what is met between the look and the watch is not noticed",
	in:    "typed/control.Expectations.note",
	old:   "	if it.Met() { // before it was watched\n		return e.settle(x, it)\n	}\n",
	new:   "",
	suite: own,
}, {
	bug:   "the first of several expectations lets the key go",
	in:    "typed/control.Expectations.settle",
	old:   "	if len(x.unmet) == 1 {\n		return e.drop(x)",
	new:   "	if len(x.unmet) >= 1 {\n		return e.drop(x)",
	suite: expectations,
}, {
	bug:   "a write that changes nothing has its key processed again, for ever",
	in:    "typed/control.Expectations.listed",
	old:   "	if it.since.known {\n",
	new:   "	if it.since.known && it.since.lists == 1<<62 {\n",
	suite: noChange,
}, {
	bug:   "the store is at a version before it has the objects",
	in:    "typed.loop.apply",
	old:   "	waiters := l.commit(changes, version)\n",
	new:   "	if version != \"\" {\n		l.informer.store.SetResourceVersion(version)\n		l.reached(version)\n	}\n	waiters := l.commit(changes, version)\n",
	suite: own,
}}
