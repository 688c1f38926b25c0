package main

// rejectedObjects are bugs in the records of rejected objects.
var rejectedObjects = []mutation{{
	bug:   "what a list that was cut has rejected is so after the next one",
	in:    "typed.rejections.repairAll",
	old:   "&& !stay[one.key] {",
	new:   "&& !stay[one.key] && !one.err.Listed {",
	suite: tests("typed", "TestCutList"),
}, {
	bug:   "a list takes back what was rejected before it is complete",
	in:    "typed.informerSink.Stage",
	old:   "	return source.Keep(obj)\n",
	new:   "	s.repairBy(&index.Change[T]{Object: obj})\n	return source.Keep(obj)\n",
	suite: tests("typed", "TestCutList"),
}, {
	bug:   "any state of a key takes back a rejection that stands",
	in:    "typed.informerSink.Report",
	old:   "			by = standing\n",
	new:   "",
	suite: tests("typed", "TestStandingRejection"),
}, {
	bug:   "who rejects an object waits for what is told of it",
	in:    "typed.unreported.start",
	old:   "		u.running.Go(func() { u.report(ctx) })\n",
	new:   "		u.mu.Unlock()\n		u.report(ctx)\n		u.mu.Lock()\n",
	suite: tests("typed", "TestRejectedObjectsAreLoggedAside"),
}, {
	bug:   "an error handler that ends its goroutine ends all reports",
	in:    "typed.unreported.report",
	old:   "		u.start(ctx) // an error handler may have ended this goroutine\n",
	new:   "",
	suite: tests("typed", "TestErrorHandlerThatEndsItsGoroutine"),
}, {
	bug:   "an informer whose objects were all rejected does not sync when they are gone",
	in:    "typed.loop.syncIfRepaired",
	old:   "	l.sync()\n",
	new:   "",
	suite: tests("typed", "TestRejectedByAnIndexFunctionAndGone"),
}, {
	bug:   "fleets: what a list that was cut has rejected is so for good",
	in:    "typed/fleet.session.Stage",
	old:   "		s.health.reject(rejection{key: index.KeyOf(obj)})\n",
	new:   "",
	suite: tests("typed/fleet", "TestRejectedObjects"),
}, {
	bug:   "shards: an object that was rejected is so for good when it is deleted",
	in:    "typed/shard.part.depart",
	old:   "		q.repair(key)\n",
	new:   "",
	suite: tests("typed/shard", "TestRejectedObjectsOfAPart"),
}}

// viewsOfOthers are bugs of views and of followers of informers.
var viewsOfOthers = []mutation{{
	bug:   "a bookmark that comes while somebody begins to follow is lost",
	in:    "typed.Informer.addFollower",
	old:   "		f.Step(nil, now) //",
	new:   "		//",
	suite: tests("typed", "TestBookmarkWhileAFollowerBegins"),
}, {
	bug:   "a view forgets why what it was made of is gone",
	in:    "typed/view.computed.step",
	old:   "			c.because = change.reason\n			c.drop(change.row)\n",
	new:   "			c.because = 0\n			c.drop(change.row)\n",
	suite: tests("typed/view", "TestReasonsOfAView"),
}, {
	bug:   "diamonds of informers are looked for one level deep",
	in:    "typed/view.walk.follow",
	old:   "	for _, from := range at.DerivedFrom() {\n",
	new:   "	for _, from := range at.DerivedFrom()[:0] {\n",
	suite: tests("typed/view", "TestDiamonds"),
}, {
	bug:   "diamonds are not looked for again when a source opens another one",
	in:    "typed/view.runner.run",
	old:   "err := r.program.diamonds.check(); err != nil {\n",
	new:   "err := r.program.diamonds.check(); err != nil && ctx == nil {\n",
	suite: tests("typed/view", "TestDiamondsThatComeLater"),
}, {
	bug:   "a projection hides what it is made of from views",
	in:    "typed/source.projectedSource.DerivedFrom",
	old:   "return DerivedOf(s.source)",
	new:   "return nil",
	suite: tests("typed/source", "TestDerives"),
}, {
	bug:   "a fleet hides the sources of clusters from views",
	in:    "typed/source.Opened.DerivedFrom",
	old:   "		from = append(from, DerivedOf(*src)...)\n",
	new:   "		from = append(from, DerivedOf(*src)[:0]...)\n",
	suite: tests("typed/fleet", "TestDerives"),
}, {
	bug:   "a source over a shared informer hides that from views",
	in:    "adapters.sharedSource.DerivedFrom",
	old:   "return []source.Derived{sharedRoot{informer}}",
	new:   "return nil",
	suite: tests("adapters", "TestDiamondsOverSharedInformers"),
}, {
	bug:   "a lister of a cluster finds nothing where labels are left out",
	in:    "typed/fleet.Lister.check",
	old:   "from.Omits(\"metadata.labels\")",
	new:   "from.Omits(\"\")",
	suite: tests("typed/fleet", "TestListersOfAMask"),
}, {
	bug:   "an informer keeps who has counted its lists",
	in:    "typed.lists.each",
	old:   "		return c == nil\n",
	new:   "		return false\n",
	suite: tests("typed", "TestListCountsGiveBack"),
}, {
	bug:   "objects are shared by a field that is left out",
	in:    "typed/shard.part.run",
	old:   "source.Omits(src, q.needs)",
	new:   "source.Omits(src, \"\")",
	suite: tests("typed/shard", "TestHashOfOmittedField"),
}, {
	bug:   "what is released counts in what is told of a factory's budget until somebody else changes",
	in:    "typed/observe.totalBudget.spend",
	old:   "b.settle(b.sumObjects.Add(objects), ",
	new:   "b.settle(max(b.objects, b.sumObjects.Add(objects)), ",
	suite: tests("typed", "TestTotalBudget"),
}, {
	bug:   "a watch that fails is counted as a list",
	in:    "typed/kube.retryingListerWatcher.failed",
	old:   "Watch: watch, ",
	new:   "",
	suite: tests("typed/kube", "TestFailuresOfListsAndWatchesAreCountedApart"),
}, {
	bug:   "of objects of one name, the one that was first stays when what it is made of is renamed",
	in:    "typed/view.computed.step",
	old:   "			c.reorder(change.row)\n",
	new:   "",
	suite: tests("typed/view", "TestFirstOfANameAfterARename"),
}, {
	bug:   "an object for which Add panics counts",
	in:    "typed/view.reduced.move",
	old:   "r.apply(&s.state, c.now, r.fold.Add) != nil",
	new:   "r.apply(&s.state, c.now, r.fold.Add) == errImpure",
	suite: tests("typed/view", "TestPanicOfAFold"),
}, {
	bug:   "a view passes on changes of a first list that was not taken up",
	in:    "typed/view.runner.pass",
	old:   "true, r.out.count > 0 || r.program.failing == r.program.twice\n",
	new:   "true, true\n",
	suite: tests("typed/view", "TestFirstListOfAView"),
}, {
	bug:   "versions of a view of a view run together",
	in:    "typed/view.joinVersions",
	old:   "strings.ContainsAny(v, \",()\")",
	new:   "strings.ContainsAny(v, \"()\")",
	suite: tests("typed/view", "TestVersionsOfAViewOfAView"),
}, {
	bug:   "a failure under a name that its object had before stays",
	in:    "typed/view.faults.fail",
	old:   "		p.repair(before)\n",
	new:   "",
	suite: tests("typed/view", "TestFailuresDiffer"),
}, {
	bug:   "a set of many rows loses the one that takes the place of another",
	in:    "typed/view.rowList.remove",
	old:   "		l.places[l.rows[last]] = uint32(at)\n",
	new:   "",
	suite: tests("typed/view", "TestRowSet"),
}, {
	bug:   "an object that comes into a list that has lost it in the same step is lost",
	in:    "typed/view.labelIndex.addTo",
	old:   "		x.settle(list, gone)\n",
	new:   "		_ = gone\n",
	suite: tests("typed/view", "TestLabelIndex"),
}}
