package main

// ofShards are bugs of objects that processes share, and of fleets over them.
var ofShards = []mutation{
	{
		bug:   "fleets: what another member has now is told as deleted",
		in:    "typed/fleet.session.replaceAll",
		old:   "	gone = s.release(gone, l.Released)\n",
		new:   "",
		suite: tests("typed/fleet", "TestReleasedByPut"),
	},
	{
		bug:   "shards: a first list does not tell what is outside of it",
		in:    "typed/shard.part.replace",
		old:   ", Released: q.isOutside(own)}",
		new:   "}",
		suite: tests("typed/shard", "TestFirstListTellsWhatIsOutside"),
	},
	{
		bug:   "shards: the version of a range is told before what happened up to it",
		in:    "typed/shard.part.change",
		old:   "	report(at)\n	q.tellVersion(at)\n",
		new:   "	q.told = version\n	if at != \"\" {\n		report(at)\n	}\n",
		suite: tests("typed/shard", "TestPartsModel"),
	},
	{
		bug:   "who waits for the version of a key is not told that the watch has moved",
		in:    "typed/shard.part.tellVersion",
		old:   "		q.sink.Step(nil, \"\", nil)\n",
		new:   "",
		suite: tests("typed/shard", "TestVersionsOfWatches"),
	},
	{
		bug:   "shards: ranges that wait for a list to end are never listed",
		in:    "typed/shard.part.replace",
		old:   "		q.follower.poke() // ranges may wait for a list to end\n",
		new:   "",
		suite: tests("typed/shard", "TestListsDoNotPileUp"),
	},
	{
		bug:   "shards: any number of lists runs at a time",
		in:    "typed/shard.parts.follow",
		old:   "	case p.listing() >= mostLists ||",
		new:   "	case p.listing() > rangeCount ||",
		suite: tests("typed/shard", "TestListsDoNotPileUp"),
	},
	{
		bug:   "shards: a server that has stopped to select sends everything to each watch",
		in:    "typed/shard.parts.follow",
		old:   "		rest && !asksServer && p.listed() && len(p.running) > 1:",
		new:   "		rest && !asksServer && p.listed() && len(p.running) > rangeCount:",
		suite: tests("typed/shard", "TestServerThatStopsSelecting"),
	},
	{
		bug:   "shards: a server that selects again is not believed",
		in:    "typed/shard.parts.isUnselected",
		old:   "	p.unselected.Store(is)\n	return is\n",
		new:   "	if is {\n		p.unselected.Store(is)\n	}\n	return p.unselected.Load()\n",
		suite: tests("typed/shard", "TestServerThatStopsSelecting"),
	},
	{
		bug:   "a version of a key is taken for reflected while it is queued",
		in:    "typed.versionExpected.isKeyReflected",
		old:   "	return e.informer.byKey.consumed.Load() >= batch\n",
		new:   "	_ = batch\n	return true\n",
		suite: tests("typed", "TestWaitForKeyVersionIsNotEarly"),
	},
}
