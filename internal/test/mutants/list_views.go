package main

// rejectedObjects are bugs of what is known of objects that cannot be used.
var rejectedObjects = []mutation{
	{
		bug:   "what a list that was cut has rejected is so after the next one",
		in:    "typed.rejections.repairAll",
		old:   "&& !stay[one.key] {",
		new:   "&& !stay[one.key] && !one.err.Listed {",
		suite: tests("typed", "TestListThatIsCut"),
	},
	{
		bug:   "a list takes back what was rejected before it is complete",
		in:    "typed.informerSink.admit",
		old:   "	if !listed && s.health.rejections.some() {",
		new:   "	if s.health.rejections.some() {",
		suite: tests("typed", "TestListThatIsCut"),
	},
	{
		bug:   "any state of a key takes back a rejection that stands",
		in:    "typed.informerSink.Report",
		old:   "			by = standing\n",
		new:   "",
		suite: tests("typed", "TestStandingRejection"),
	},
	{
		bug:   "who rejects an object waits for what is told of it",
		in:    "typed.untold.add",
		old:   "		u.running.Go(func() { u.tell(ctx) })\n",
		new:   "		u.mu.Unlock()\n		u.tell(ctx)\n		u.mu.Lock()\n",
		suite: tests("typed", "TestRejectedObjectsAreToldByTheWay"),
	},
	{
		bug:   "an informer whose objects were all rejected does not sync when they are gone",
		in:    "typed.loop.syncIfRepaired",
		old:   "	l.sync()\n",
		new:   "",
		suite: tests("typed", "TestRejectedByAnIndexFunctionAndGone"),
	},
	{
		bug:   "fleets: what a list that was cut has rejected is so for good",
		in:    "typed/fleet.session.Stage",
		old:   "		s.health.reject(rejection{key: index.KeyOf(obj)})\n",
		new:   "",
		suite: tests("typed/fleet", "TestRejectedObjects"),
	},
	{
		bug:   "shards: an object that was rejected is so for good when it is deleted",
		in:    "typed/shard.part.depart",
		old:   "		q.repair(key)\n",
		new:   "",
		suite: tests("typed/shard", "TestRejectedObjectsOfAPart"),
	},
}

// viewsOfOthers are bugs of views and of those who follow informers.
var viewsOfOthers = []mutation{
	{
		bug:   "a bookmark that comes while somebody begins to follow is lost",
		in:    "typed.Informer.addFollower",
		old:   "		f.Step(nil, now) //",
		new:   "		//",
		suite: tests("typed", "TestBookmarkWhileAFollowerBegins"),
	},
	{
		bug:   "a view forgets why what it was made of is gone",
		in:    "typed/view.computed.step",
		old:   "			c.because = change.reason\n			c.drop(change.row)\n",
		new:   "			c.because = 0\n			c.drop(change.row)\n",
		suite: tests("typed/view", "TestReasonsOfAView"),
	},
	{
		bug:   "diamonds of informers are looked for one level deep",
		in:    "typed/view.rootsOf",
		old:   "		roots = append(roots, rootsOf(below)...)\n",
		new:   "		roots = append(roots, below)\n",
		suite: tests("typed/view", "TestDiamonds"),
	},
	{
		bug:   "of objects of one name, the one that was first stays when what it is made of is renamed",
		in:    "typed/view.computed.step",
		old:   "			c.reorder(change.row)\n",
		new:   "",
		suite: tests("typed/view", "TestFirstOfANameAfterARename"),
	},
	{
		bug:   "an object for which Add panics counts",
		in:    "typed/view.reduced.move",
		old:   "r.apply(&s.state, c.now, r.fold.Add) != nil",
		new:   "r.apply(&s.state, c.now, r.fold.Add) == errImpure",
		suite: tests("typed/view", "TestPanicOfAFold"),
	},
	{
		bug:   "a view passes on changes of a first list that was not taken up",
		in:    "typed/view.runner.pass",
		old:   "true, r.out.count > 0 || r.failing == r.twice\n",
		new:   "true, true\n",
		suite: tests("typed/view", "TestFirstListOfAView"),
	},
	{
		bug:   "versions of a view of a view run together",
		in:    "typed/view.joinVersions",
		old:   "strings.ContainsAny(v, \",()\")",
		new:   "strings.ContainsAny(v, \"()\")",
		suite: tests("typed/view", "TestVersionsOfAViewOfAView"),
	},
	{
		bug:   "a failure under a name that its object had before stays",
		in:    "typed/view.faults.fail",
		old:   "		p.repair(before)\n",
		new:   "",
		suite: tests("typed/view", "TestFailuresAreToldApart"),
	},
}
