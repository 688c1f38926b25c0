package main

// references are bugs of package reference: some for each rule of reference.Source.
var references = foundBy(tests("typed/reference", "Test[^C].*"), []mutation{{
	bug: "the idle time begins before the first answer",
	in:  "typed/reference.keys.rest",
	old: "	case e.state.known() && e.timer == nil:\n",
	new: "	case e.timer == nil:\n",
}, {
	bug: "the idle time begins with the first use",
	in:  "typed/reference.keys.release",
	old: "	e.last = time.Now()\n",
	new: "	if e.last.IsZero() {\n		e.last = time.Now()\n	}\n",
}, {
	bug: "a key that is held again is dropped when its idle time would have ended",
	in:  "typed/reference.keys.expire",
	old: "	case e.holders > 0:\n",
	new: "	case false:\n",
}, {
	bug: "a key is never dropped",
	in:  "typed/reference.keys.expire",
	old: "	default:\n		s.drop(e)\n",
	new: "",
}, {
	bug: "a refused key counts as absent",
	in:  "typed/reference.keySink.fails",
	old: "		k.state.Phase = Refused\n",
	new: "		k.state.Phase = Absent\n",
}, {
	bug: "a key is refused when the server cannot be reached",
	in:  "typed/reference.keySink.fails",
	old: "	case !refused, before != nil",
	new: "	case before != nil",
}, {
	bug: "a key whose first list has not come counts as absent",
	in:  "typed/reference.keys.await",
	old: "	case <-s.ended:\n	case <-ctx.Done():\n	}\n	if monitor.IsClosed(s.ended) {\n",
	new: "	case <-s.ended:\n	case <-ctx.Done():\n		return nil, nil\n	}\n	if monitor.IsClosed(s.ended) {\n",
}, {
	bug: "a state is published before reads reflect it",
	in:  "typed/reference.keySink.publishing",
	old: "	return func() {\n",
	new: "	k.setState(k.entry, state)\n	return func() {\n",
}, {
	bug: "an object that cannot be used counts as absent",
	in:  "typed/reference.keySink.read",
	old: "			state = State{Phase: Refused, Version: version, Err: errUnusable, Since: time.Now()}\n",
	new: "",
}, {
	bug: "a key that is allowed again stays refused",
	in:  "typed/reference.keySink.Report",
	old: "			k.state.Err, k.state.Since = nil, time.Time{}\n",
	new: "",
}, {
	bug: "a list of another server takes a key back",
	in:  "typed/reference.keySink.accepts",
	old: "	if !isOlder(version, least) {\n",
	new: "	if true {\n",
}, {
	bug: "versions are forgotten with the keys that have reached them",
	in:  "typed/reference.keys.raise",
	old: "			s.floor.Store(&version)\n",
	new: "",
}, {
	bug: "a restored store is waited for without end",
	in:  "typed/reference.keySink.accepts",
	old: ">= otherHistory {",
	new: ">= 100*otherHistory {",
}, {
	bug: "sources are not asked for lists that are new enough",
	in:  "typed/reference.keySink.attempt",
	old: "source.WithFloor(k.ctx, k.floorNow)",
	new: "k.ctx",
}, {
	bug: "a first list does not ask for a version",
	in:  "typed/kube.raise",
	old: "	if floor := source.FloorOf(ctx); floor != \"\" {\n",
	new: "	if floor := source.FloorOf(ctx); floor == \"none\" {\n",
}, {
	bug: "an event that comes twice takes a later one back",
	in:  "typed/reference.keySink.Step",
	old: " || version != \"\" && isOlder(version, k.version) {",
	new: " {",
}, {
	bug: "the version of the informer is the highest of all watches",
	in:  "typed/reference.group.advance",
	old: "order < 0",
	new: "order > 0",
}, {
	bug: "a key that is pending holds no version back",
	in:  "typed/reference.group.advance",
	old: "		case !k.listed || k.version == \"\":\n			return \"\"\n",
	new: "		case !k.listed || k.version == \"\":\n			continue\n",
}, {
	bug: "the informer syncs before all keys have an answer",
	in:  "typed/reference.group.syncIfAnswered",
	old: "		if k.initial && !k.state.known() {\n",
	new: "		if k.initial && k.removed {\n",
}, {
	bug: "a refused key keeps the informer from syncing",
	in:  "typed/reference.keySink.fails",
	old: "	k.syncIfAnswered()\n",
	new: "",
}, {
	bug: "the list of a key is taken for one of all",
	in:  "typed/reference.keySink.Replace",
	old: "source.List{Part: true, ",
	new: "source.List{",
}, {
	bug: "a source that ends makes no key refused",
	in:  "typed/reference.keySink.finish",
	old: "		k.fails(err, true)\n",
	new: "		k.fails(err, false)\n",
}, {
	bug: "a released object counts as deleted",
	in:  "typed/reference.group.remove",
	old: "Reason: index.OutOfScope",
	new: "Reason: index.Watched",
}, {
	bug: "a released object stays",
	in:  "typed/reference.group.remove",
	old: "		if k.there {\n",
	new: "		if false {\n",
}, {
	bug: "an object that is held later counts as created",
	in:  "typed/reference.keySink.Replace",
	old: "Reason: index.Relisted}",
	new: "Reason: index.Watched}",
}, {
	bug: "a released watch reports still",
	in:  "typed/reference.keySink.isOut",
	old: "k.removed || ",
	new: "",
}, {
	bug: "a caller that gives up ends the first list",
	in:  "typed/reference.keys.rest",
	old: "	case !s.started || e.state.known() && s.idle == 0:\n",
	new: "	case !s.started || !e.state.known() || s.idle == 0:\n",
}, {
	bug: "an error of Hold holds some keys nevertheless",
	in:  "typed/reference.Source.hold",
	old: "		s.releaseAll(entries)\n",
	new: "",
}, {
	bug: "parents of two kinds are one owner",
	in:  "typed/reference.From",
	old: "room: s.rooms.Add(1)",
	new: "room: 1",
}, {
	bug: "keys beyond the limit are never held",
	in:  "typed/reference.Source.retry",
	old: "	if s.room && s.waitRoom > 0 {\n",
	new: "	if false {\n",
}, {
	bug: "parents are not enqueued when an object is refused",
	in:  "typed/reference.EnqueueReferrers",
	old: "		if state.known() {\n",
	new: "		if state.known() && state.Err == nil {\n",
}, {
	bug:   "the first list of keys takes rejections of a watch back",
	in:    "typed/reference.keySink.reject",
	old:   "watched && !k.synced",
	new:   "watched && k.synced",
	suite: tests("typed/reference", "TestRejectedBeforeTheSync"),
}, {
	bug:   "a key that is dropped with its first answer is reported",
	in:    "typed/reference.keys.setState",
	old:   "	if !e.gone {\n",
	new:   "	if e.reported = true; true {\n",
	suite: tests("typed/reference", "TestKeyReleasedBeforeItsAnswer"),
}})
