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
}
