package main

// ofShards are bugs of objects that processes share, and of fleets over them.
var ofShards = []mutation{{
	bug:   "fleets: what another member has now is told as deleted",
	in:    "typed/fleet.session.replaceAll",
	old:   "	gone = s.release(gone, l.Released)\n",
	new:   "",
	suite: tests("typed/fleet", "TestReleasedByPut"),
}, {
	bug:   "shards: a first list does not report what is outside of it",
	in:    "typed/shard.part.replace",
	old:   ", Released: q.isOutside(own)}",
	new:   "}",
	suite: tests("typed/shard", "TestFirstListReportsObjectsOutside"),
}, {
	bug:   "shards: the version of a range is told before what happened up to it",
	in:    "typed/shard.part.change",
	old:   "	report(at)\n	q.reportVersion(at)\n",
	new:   "	q.reported = version\n	if at != \"\" {\n		report(at)\n	}\n",
	suite: tests("typed/shard", "TestPartsModel"),
}, {
	bug:   "who waits for the version of a key is not told that the watch has moved",
	in:    "typed/shard.part.reportVersion",
	old:   "		q.sink.Step(nil, \"\", nil)\n",
	new:   "",
	suite: tests("typed/shard", "TestVersionsOfWatches"),
}, {
	bug:   "shards: ranges that wait for a list to end are never listed",
	in:    "typed/shard.part.replace",
	old:   "		q.follower.poke() // ranges may wait for a list to end\n",
	new:   "",
	suite: tests("typed/shard", "TestListsDoNotPileUp"),
}, {
	bug:   "shards: any number of lists runs at a time",
	in:    "typed/shard.parts.follow",
	old:   "	case p.listing() >= mostLists ||",
	new:   "	case p.listing() > rangeCount ||",
	suite: tests("typed/shard", "TestListsDoNotPileUp"),
}, {
	bug:   "shards: a server that has stopped to select sends everything to each watch",
	in:    "typed/shard.parts.follow",
	old:   "		rest && !asksServer && p.listed() && len(p.running) > 1:",
	new:   "		rest && !asksServer && p.listed() && len(p.running) > rangeCount:",
	suite: tests("typed/shard", "TestServerThatStopsSelecting"),
}, {
	bug:   "shards: a server that selects again is not believed",
	in:    "typed/shard.parts.isUnselected",
	old:   "	p.unselected.Store(is)\n	return is\n",
	new:   "	if is {\n		p.unselected.Store(is)\n	}\n	return p.unselected.Load()\n",
	suite: tests("typed/shard", "TestServerThatStopsSelecting"),
}, {
	bug:   "a version of a key is taken for reflected while it is queued",
	in:    "typed.versionExpected.isKeyReflected",
	old:   "	return e.informer.byKey.consumed.Load() >= batch\n",
	new:   "	_ = batch\n	return true\n",
	suite: tests("typed", "TestWaitForKeyVersionIsNotEarly"),
}, {
	bug:   "shards: unchanged objects are reported again when ranges come",
	in:    "typed/shard.part.sort",
	old:   "		case q.listed || !known || was.object != obj.object || was.object == 0 || in.stay.Has(obj.key):\n",
	new:   "		default:\n",
	suite: tests("typed/shard", "TestUnchangedObjectsAreReportedOnce"),
}, {
	bug:   "shards: a range is given up before the next member has listed it",
	in:    "typed/shard.member.plan",
	old:   ".minus(unready))",
	new:   ")\n	_ = unready",
	suite: tests("typed/shard", "TestWorkGoesOnUntilTheNextHasListed"),
}, {
	bug:   "shards: members of earlier versions are waited for",
	in:    "typed/shard.unready",
	old:   "		if s.prepared {\n",
	new:   "		{\n",
	suite: tests("typed/shard", "TestMembersOfEarlierVersions"),
}, {
	bug:   "shards: one call that takes long stops all keys of a range that is to move",
	in:    "typed/shard.Group.fade",
	old:   "		if g.underWay[r] == 0 || now",
	new:   "		if true || now",
	suite: tests("typed/shard", "TestKeysOfARangeThatLeaves"),
}, {
	bug:   "shards: keys of a range that is to move are handed out for ever",
	in:    "typed/shard.Group.fade",
	old:   " || now.Sub(g.fadingSince[r]) >= g.drainTimeout*3/4",
	new:   " || now.IsZero()",
	suite: tests("typed/shard", "TestKeysOfARangeThatLeaves"),
}, {
	bug:   "shards: keys of a range that is about to come are dropped",
	in:    "typed/shard.Group.begin",
	old:   "		return nil, nil, soon\n",
	new:   "		return nil, nil, never\n",
	suite: tests("typed/shard", "TestRangesThatComeAreNotDropped"),
}, {
	bug: "shards: a member goes on with ranges that were edited out of its Lease",
	in:  "typed/shard.member.adopt",
	old: "; !missing.empty() {",
	new: "; missing.empty() {",
}, {
	bug:   "shards: a range that another member holds is taken",
	in:    "typed/shard.member.plan",
	old:   "granted = m.wants.and(target).minus(mentioned)",
	new:   "granted = m.wants.and(target)",
	suite: tests("typed/shard", "TestSimulation"),
}, {
	bug: "shards: Leases that cannot be read hold nothing",
	in:  "typed/shard.member.sight",
	old: "holds: everything, options: m.options()",
	new: "options: m.options()",
}, {
	bug:   "a member without a Lease leaves while calls run",
	in:    "typed/shard.member.leave",
	old:   "	case calls > 0:\n",
	new:   "	case calls > 0 && valid:\n",
	suite: tests("typed/shard", "TestLeavingWithoutALease"),
}, {
	bug:   "a member that leaves makes another Lease",
	in:    "typed/shard.member.round",
	old:   "m.lease == nil && m.leaving:",
	new:   "m.lease == nil && m.leaving && lookErr != nil:",
	suite: tests("typed/shard", "TestLeavingWithoutALease"),
}, {
	bug:   "the first list of a fleet takes rejections of a watch back",
	in:    "typed/fleet.session.reject",
	old:   "!rejected.Stands && s.health.isListed()",
	new:   "!rejected.Stands && s.isSynced()",
	suite: tests("typed/fleet", "TestRejectedByAWatch"),
}}
