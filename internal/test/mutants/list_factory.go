package main

// factories are bugs of informers that several share.
var factories = foundBy(shares, []mutation{{
	bug: "the time of grace ends an informer that somebody wants again",
	in:  "typed.Factory.linger",
	old: "	over := s.wanted == wanted\n",
	new: "	over := true\n",
}, {
	bug: "whoever comes in the time of grace does not tell",
	in:  "typed.Share",
	old: "		close(s.wanted)\n		s.wanted = nil\n",
	new: "		_ = s.wanted\n",
}, {
	bug: "an informer that was released is given to the next who asks",
	in:  "typed.Factory.release",
	old: "	if last && f.shares[at] == s {\n",
	new: "	if false {\n",
}, {
	bug: "an informer that ends takes its successor from the factory",
	in:  "typed.Factory.forget",
	old: "	defer f.mu.Unlock()\n	if f.shares[at] == s {\n		f.drop(at, s)\n	}\n",
	new: "	defer f.mu.Unlock()\n	f.drop(at, s)\n",
}, {
	bug: "a second release of a use begins the time of grace anew",
	in:  "typed.SharedInformer.Release",
	old: "	if s.released {\n		s.mu.Unlock()\n		return\n	}\n",
	new: "",
}, {
	bug: "the handlers of a use go on when it is released",
	in:  "typed.SharedInformer.Release",
	old: "		r.Close()\n",
	new: "		_ = r\n",
}, {
	bug:   "a factory goes on with an informer whose source has ended its goroutine",
	in:    "typed.Factory.start",
	old:   "		defer func() { f.ended(ctx, at, s, err) }()\n		err = s.informer.Run(ctx)\n",
	new:   "		err = s.informer.Run(ctx)\n		f.ended(ctx, at, s, err)\n",
	suite: tests("typed", "TestSourceEndsTheGoroutineOfAFactory"),
}, {
	bug:   "an informer of a factory that has failed is no error",
	in:    "typed.Factory.drop",
	old:   "	if !f.closed && !s.uses.none() {\n",
	new:   "	if false {\n",
	suite: tests("typed", "TestFactoryReplacesEndedInformers"),
}, {
	bug:   "a factory waits for informers without users",
	in:    "typed.uses.remove",
	old:   "; len(u.all) == 0 {\n",
	new:   "; false {\n",
	suite: tests("typed", "TestWaitForSyncInTheTimeOfGrace"),
}, {
	bug:   "room for the events of a large step stays",
	in:    "typed.loop.flush",
	old:   "		l.changes, l.events = nil, nil\n",
	new:   "		l.changes = nil\n",
	suite: tests("typed", "TestMemoryOfABurst"),
}})
