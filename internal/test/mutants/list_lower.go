package main

var inAdapters = tests("adapters", "Test.*")

// lowerRooms are bugs of decoders, of what talks to API servers, of adapters, and of small
// packages below them.
var lowerRooms = []mutation{{
	bug: "an empty message is taken for the one before it",
	in:  "internal/decode/plan.message.equals",
	old: "		if !seen.Has(uint8(ordinal)) && ",
	new: "		if len(data) > 0 && !seen.Has(uint8(ordinal)) && ",
}, {
	bug: "a part of a field that is named takes the place of all of it",
	in:  "internal/decode/plan.Mask.add",
	old: "	case ok && within == nil:\n	default:\n		if !ok {\n",
	new: "	default:\n		if !ok || within == nil {\n",
}, {
	bug: "a mask leaves the elements of lists whole where apimachinery decodes",
	in:  "internal/decode/plan.Mask.prune",
	old: "	case []any:\n		for _, element := range value {\n			m.prune(element)\n		}\n",
	new: "",
}, {
	bug: "an error about a path leaves out where it begins",
	in:  "internal/decode/plan.Mask.check",
	old: "check(field, path+name+\".\")",
	new: "check(field, name+\".\")",
}, {
	bug: "a mask may leave out the metadata, with the name in it",
	in:  "internal/decode/plan.Without",
	old: "kept == path || strings.HasPrefix(kept, path+\".\") || ",
	new: "kept == path || ",
}, {
	bug: "two quantities share a number that is too large for 64 bits",
	in:  "internal/decode/plan.quantityOf",
	old: " && again == value",
	new: "",
}, {
	bug: "a struct of the user's own has bytes that are not UTF-8 where JSON has none",
	in:  "internal/decode/plan.decoder.text",
	old: "	if d.own && !utf8.Valid(data) {",
	new: "	if d.own && d.unfit && !utf8.Valid(data) {",
}, {
	bug: "a field that is embedded hides the one of the same name outside",
	in:  "internal/decode/plan.jsonFields",
	old: "			if _, hidden := found[name]; !hidden {\n				found[name] = dominant(fields)\n			}\n",
	new: "			found[name] = dominant(fields)\n",
}, {
	bug: "a pointer of the user's own points at a zero that JSON leaves out",
	in:  "internal/decode/plan.message.finish",
	old: "		if f.isThere || f.isNil {\n",
	new: "		if f.isThere {\n",
}, {
	bug: "a plan that has failed stays, half done, for the next one who asks",
	in:  "internal/decode/plan.Pool.made",
	old: "		p.build.made = before //",
	new: "		_ = before //",
}, {
	bug: "a truth value that changes stays as it was",
	in:  "internal/decode/jsontree.member.literal",
	old: "	was, ok := like.(bool)\n	m.kind, m.value, m.same = aValue, value, ok && was == value\n",
	new: "	_, ok := like.(bool)\n	m.kind, m.value, m.same = aValue, value, ok\n",
}, {
	bug: "a member that is gone from an object stays in it",
	in:  "internal/decode/jsontree.pass.nested",
	old: "len(was) == len(all) && ",
	new: "len(was) >= len(all) && ",
}, {
	bug: "a long array has its beginning twice",
	in:  "internal/decode/jsontree.beginning.add",
	old: "		b.same = 0\n",
	new: "",
}, {
	bug: "a key that comes twice counts as two keys",
	in:  "internal/decode/jsontree.among",
	old: "*collisions > maxCompared || all[i].key == m.key",
	new: "*collisions > maxCompared",
}, {
	bug: "an integer of 19 digits overflows",
	in:  "internal/decode/jsontree.pass.number",
	old: "digits < 19",
	new: "digits < 20",
}, {
	bug: "a time keeps the fraction of a second that it has lost",
	in:  "internal/decode/jsontree.equalTime",
	old: " || t != time.Unix(t.Unix(), 0)",
	new: "",
}, {
	bug: "an integer that is too large for its field is cut",
	in:  "internal/decode/jsontree.pass.scalar",
	old: "m.kind != anInt || value.OverflowInt(int64(m.number))",
	new: "m.kind != anInt",
}, {
	bug: "a value in JSON forgets the backslash that a buffer ends with",
	in:  "internal/decode/wire.jsonValue.string",
	old: "			v.escaped = true\n",
	new: "",
}, {
	bug: "an object in protobuf that cannot be decoded has no version",
	in:  "internal/decode/wire.Identity.add",
	old: "		case versionField:\n			id.ResourceVersion = string(value)\n",
	new: "",
}, {
	bug: "an object has the kind of the one before it",
	in:  "internal/decode/wire.protobufCodec.readKind",
	old: " || string(name) != last.Kind",
	new: "",
}, {
	bug: "a mask leaves nothing out where generated code decodes",
	in:  "internal/decode/wire.protobufCodec.unpacked",
	old: "	if c.mask != nil {\n		c.mask.Apply(obj)\n	}\n",
	new: "",
}, {
	bug: "a differ looks up places of the base before",
	in:  "internal/decode/packed.differ.read",
	old: "	clear(d.places[:])\n",
	new: "",
}, {
	bug: "a differ believes a hash, and does not compare bytes",
	in:  "internal/decode/packed.differ.find",
	old: "	if found >= 0 && binary.LittleEndian.Uint64(base[found:]) == sought {\n",
	new: "	if found >= 0 {\n",
}, {
	bug: "a store remembers any number of bases that are in use",
	in:  "internal/decode/packed.Store.note",
	old: "		if len(s.known) > mostBases/2 {\n			clear(s.known)\n		}\n",
	new: "",
}, {
	bug: "the same bytes of a long object take new memory",
	in:  "internal/decode/packed.Store.Pack",
	old: "		if before.base == nil && ",
	new: "		if before.base != nil && ",
}, {
	bug: "a base counts once for each of its objects",
	in:  "internal/decode/packed.Record.Add",
	old: "	if !to.IsNew(r.base) {\n		return\n	}\n",
	new: "	to.IsNew(r.base)\n",
}, {
	bug: "inserted bytes do not count for the length of an object",
	in:  "internal/decode/packed.textSize",
	old: "		size += int64(inserted)\n",
	new: "",
}, {
	bug: "a process gives up the lead while its work goes on",
	in:  "typed/kube/election.guardedLock.release",
	old: "l.state.released = !l.state.works",
	new: "l.state.released = true",
}, {
	bug: "a process keeps the Lease if the answer is lost that has won the lead",
	in:  "typed/kube/election.Elector.Elect",
	old: "	if end.tried && !end.released {\n",
	new: "	if end.won && !end.released {\n",
}, {
	bug: "work goes on when the lead is lost",
	in:  "typed/kube/election.work",
	old: "	defer context.AfterFunc(leading, func() { cancel(lost()) })()\n",
	new: "",
}, {
	bug: "a process gives up the lead of another one",
	in:  "typed/kube/election.releaseOnce",
	old: "	if err != nil || record.HolderIdentity != lock.Identity() {\n",
	new: "	if err != nil {\n",
}, {
	bug: "waits grow beyond their limit",
	in:  "typed/kube.backoff.next",
	old: "min(time.Duration(float64(limit)*b.factor), b.last)",
	new: "time.Duration(float64(limit) * b.factor)",
}, {
	bug: "a list that brings objects is not counted any more after 30 seconds",
	in:  "typed/kube.turn.goOn",
	old: "		t.silence.Reset(listSilence)\n",
	new: "",
}, {
	bug: "breaks at different versions count as breaks at one",
	in:  "typed/kube.breaks.isHopeless",
	old: "b.version, b.unusable = version, 0",
	new: "b.version = version",
}, {
	bug: "the annotations of unstructured objects are not stripped",
	in:  "typed/kube.StripAnnotations",
	old: "		default:\n			obj.SetAnnotations(annotations)\n",
	new: "",
}, {
	bug: "a merge patch holds for any version of an object",
	in:  "typed/kube.holdFor",
	old: "map[string]string{\"uid\": m.UID, \"resourceVersion\": m.ResourceVersion}",
	new: "map[string]string{\"uid\": m.UID}",
}, {
	bug: "a source that has missed a kind once does not notice that it goes",
	in:  "typed/kube.kindWaiter.waitUntilGone",
	old: "			since = time.Time{}\n",
	new: "",
}, {
	bug: "additions without an order move the version of a source",
	in:  "typed/kube.reflectorStore.Add",
	old: "		if !s.ordered {\n			version = \"\"\n		}\n",
	new: "",
}, {
	bug: "objects without metadata pass as having no name",
	in:  "typed/kube.identify",
	old: "p != nil",
	new: "p != nil && key.Name != \"\"",
}, {
	bug: "a watch begins again at no version after an object that has none",
	in:  "typed/kube.wrapInvalid",
	old: "cmp.Or(invalid.Identity.ResourceVersion, before)",
	new: "cmp.Or(invalid.Identity.ResourceVersion)",
}, {
	bug: "a deletion that is known by its key alone is not traced to handlers",
	in:  "adapters/tracing.Events.take",
	old: "case earlier && x.byKey:",
	new: "case earlier && x.byKey && !x.deleted:",
}, {
	bug: "a handler that was due once is resynced at each look",
	in:  "adapters.listener.look",
	old: "	if l.due {\n		l.next = now.Add(l.period)\n	}\n",
	new: "",
}, {
	bug: "the objects of a streamed list are transformed twice",
	in:  "adapters.reflectorQueue.Replace",
	old: "q.lists.streamed()",
	new: "q.lists == nil",
}, {
	bug: "a transform modifies the first objects of a shared informer",
	in:  "adapters.sharedFeed.begin",
	old: "	for i := range objs {\n		objs[i] = f.lent(objs[i])\n	}\n",
	new: "",
}, {
	bug: "a typed handler of client-go is called for objects that are released",
	in:  "adapters.typedHandler.OnDelete",
	old: "	if deleted.Reason == index.Released {\n		return\n	}\n",
	new: "",
}, {
	bug: "a deletion that a list has shown counts as watched",
	in:  "adapters.typedResourceEventHandler.OnDelete",
	old: "deletedFor(deleted.OptionalObj, index.Relisted)",
	new: "deletedFor(deleted.OptionalObj, index.Watched)",
}, {
	bug: "a transaction that fails counts as done",
	in:  "adapters.indexer.Transaction",
	old: "			result.Errors = append(result.Errors, err)\n			continue\n",
	new: "			result.Errors = append(result.Errors, err)\n",
}, {
	bug: "the panic of an index function is raised again and again",
	in:  "adapters.latePanics.raise",
	old: "	l.other = nil\n",
	new: "",
}, {
	bug: "new indexers get into the map of those before",
	in:  "adapters.indexer.AddIndexers",
	old: "maps.Clone(before.indexers)",
	new: "before.indexers",
}, {
	bug: "the informer of an alpha kind lists all namespaces in place of a set",
	in:  "adapters/informers.factory.followsUnstable",
	old: "	return f.following.FollowsAll()\n",
	new: "	return false\n",
}, {
	bug: "a generic lister returns nothing for a namespace outside, and no error",
	in:  "adapters/informers.factory.ForResource",
	old: "	return scopedInformer{generic}, nil\n",
	new: "	return generic, nil\n",
}, {
	bug: "a filtered factory leaves out its list options",
	in:  "adapters/informers.NewFilteredSharedInformerFactory",
	old: ", WithTweakListOptions(tweak))",
	new: ")",
}, {
	bug:   "packed informers of a dynamic factory leave out its list options",
	in:    "adapters/internal/listwatch.NewResource",
	old:   "clientset, o.Tweak)",
	new:   "clientset)",
	suite: inAdapters,
}, {
	bug:   "a factory of metadata leaves out its transform",
	in:    "adapters/metadatainformer.NewSharedInformerFactoryWithOptions",
	old:   "		_ = g.Shared.SetTransform(o.transform)\n",
	new:   "",
	suite: inAdapters,
}, {
	bug:   "a factory of resources takes any informer for synced",
	in:    "adapters/internal/resourcefactory.Factory.WaitForCacheSync",
	old:   "cache.IsDone(checker)",
	new:   "true",
	suite: inAdapters,
}, {
	bug:   "a second WithPacked takes back that all kinds are packed",
	in:    "adapters/internal/listwatch.Packed.Pack",
	old:   "p.all = p.all || len(named) == 0",
	new:   "p.all = len(named) == 0",
	suite: inAdapters,
}, {
	bug: "lines that were left out count for each later line",
	in:  "internal/loglimit.Log.Next",
	old: "leftOut, l.leftOut = l.leftOut, 0",
	new: "leftOut = l.leftOut",
}, {
	bug: "a failure after a success keeps the next recovery out of the log",
	in:  "internal/loglimit.Trouble.Fail",
	old: "	t.worked = time.Time{}\n",
	new: "",
}, {
	bug: "a second recovery gets no line of its own",
	in:  "internal/loglimit.Group.line",
	old: "	if !next.IsZero() {\n		g.wake(now, next.Add(settled))\n	}\n",
	new: "",
}, {
	bug: "a shared call ends with the context of its first user",
	in:  "internal/goroutine.Joint.join",
	old: "context.WithCancel(context.WithoutCancel(ctx))",
	new: "context.WithCancel(ctx)",
}, {
	bug: "a stack is not found behind 64 KiB of others",
	in:  "internal/goroutine.Stack",
	old: "		if n == size && size < maxStacks {\n",
	new: "		if n > size && size < maxStacks {\n",
}, {
	bug: "two fields that point to the same do so in the copy",
	in:  "internal/deepcopy.copying.follow",
	old: "	*c = (*c)[:len(*c)-1]\n",
	new: "",
}, {
	bug: "a copy has the room of an empty slice in common with the original",
	in:  "internal/deepcopy.builder.slice",
	old: "		if v.IsNil() {\n",
	new: "		if v.Len() == 0 {\n",
}, {
	bug: "memory that two objects share is missed behind a smaller part of it",
	in:  "internal/deepcopy.memory.sort",
	old: "		m[i].end = max(m[i].end, m[i-1].end)\n",
	new: "",
}, {
	bug: "the room of a slice takes no memory",
	in:  "internal/heapsize.Scale.followSlice",
	old: "uintptr(v.Cap()) * ",
	new: "uintptr(v.Len()) * ",
}}
