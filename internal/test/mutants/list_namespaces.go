package main

var (
	sourceOfNamespaces    = tests("typed/source", "TestNamespace.*|TestReadingANamespace|TestRemovedNamespaces")
	factoriesOfNamespaces = tests("adapters/informers", "TestInformersOfNamespaces")
	managersOfNamespaces  = tests("adapters/ctrlruntime", "TestWithNamespaces|TestManagerOfNamespaces|TestManyNamespaces|TestNamespaces.*")
)

// ofNamespaces are bugs of sets of namespaces under managers and factories, and of what these
// need of sources.
var ofNamespaces = []mutation{{
	bug:   "a namespace that has left can be read when it is back, before it is listed",
	in:    "typed/source.stays.enter",
	old:   "	s.byName[namespace] = begun\n",
	new:   "	if s.byName[namespace] == nil {\n		s.byName[namespace] = begun\n	}\n	begun.listed = s.last > 2\n",
	suite: sourceOfNamespaces,
}, {
	bug:   "a namespace that was added later cannot be read",
	in:    "typed/source.namespaceSink.Replace",
	old:   "		s.stays.list(s.stay)\n",
	new:   "		if !s.synced {\n			s.stays.list(s.stay)\n		}\n",
	suite: sourceOfNamespaces,
}, {
	bug:   "handlers are called for a list before its namespace can be read",
	in:    "typed.loop.commitList",
	old:   "	if list.Done != nil {\n		goroutine.CallSafely(list.Done)\n	}\n",
	new:   "	if list.Done != nil {\n		defer func() { go goroutine.CallSafely(list.Done) }()\n	}\n",
	suite: sourceOfNamespaces,
}, {
	bug:   "a namespace that is passed over holds the version back",
	in:    "typed/source.namespaceGroup.advance",
	old:   "		if s.finished || s.passedOver && !s.listed {\n",
	new:   "		if s.finished {\n",
	suite: sourceOfNamespaces,
}, {
	bug:   "a namespace that was passed over and is listed counts for no version",
	in:    "typed/source.namespaceGroup.advance",
	old:   "s.passedOver && !s.listed {\n",
	new:   "s.passedOver {\n",
	suite: sourceOfNamespaces,
}, {
	bug:   "the informer waits for a namespace that is passed over",
	in:    "typed/source.namespaceSink.isAwaited",
	old:   "return !s.listed && !s.passedOver",
	new:   "return !s.listed",
	suite: sourceOfNamespaces,
}, {
	bug:   "each failure of a namespace that is passed over is reported",
	in:    "typed/source.namespaceSink.note",
	old:   "	if passedOver && s.err != nil &&",
	new:   "	if passedOver && s.received < 0 && s.err != nil &&",
	suite: sourceOfNamespaces,
}, {
	bug:   "a namespace whose kind is missing reads as an object that is",
	in:    "typed/source.stays.of",
	old:   "fmt.Errorf(\"%w: %v\", ErrUnlisted, now.err)",
	new:   "fmt.Errorf(\"%w: %w\", ErrUnlisted, now.err)",
	suite: sourceOfNamespaces,
}, {
	bug:   "handlers get deletions when a namespace leaves",
	in:    "adapters.listener.OnDelete",
	old:   "l.staysInScope && deleted.Reason",
	new:   "!l.staysInScope && deleted.Reason",
	suite: factoriesOfNamespaces,
}, {
	bug:   "reads of a namespace by its index find nothing, and no error",
	in:    "adapters.scope.begin",
	old:   "namespace != \"\"",
	new:   "namespace == \"*\"",
	suite: factoriesOfNamespaces,
}, {
	bug:   "reads by key find nothing, and no error",
	in:    "adapters.indexer.GetByKey",
	old:   "	if x.scope != nil {\n",
	new:   "	if x.scope != nil && x.store.Len() > 1000 {\n",
	suite: factoriesOfNamespaces,
}, {
	bug:   "the start waits for a namespace that may not be listed",
	in:    "adapters.reportTo",
	old:   "			report(fmt.Errorf(\"%w: %w\", source.ErrPassedOver, err))\n",
	new:   "			report(err)\n",
	suite: factoriesOfNamespaces,
}, {
	bug:   "requests for a namespace are made for all",
	in:    "adapters/ctrlruntime.pathIn",
	old:   "	return dir + \"namespaces/\" + namespace + \"/\" + resource\n",
	new:   "	return dir + resource + namespace[:0]\n",
	suite: managersOfNamespaces,
}, {
	bug:   "a namespace that may not be listed makes an optional kind a missing one",
	in:    "adapters/ctrlruntime.settings.isOptional",
	old:   "	return !follows && err == nil\n",
	new:   "	return follows || err == nil\n",
	suite: managersOfNamespaces,
}, {
	bug:   "reads by an index of a field find nothing, and no error",
	in:    "adapters/ctrlruntime.namespaceOfIndex",
	old:   "	return namespace\n",
	new:   "	return namespace[:0]\n",
	suite: managersOfNamespaces,
}, {
	bug:   "a watch of metadata that was stopped leaves a goroutine",
	in:    "adapters/ctrlruntime.drainedWatch.Stop",
	old:   "		for range w.ResultChan() {\n",
	new:   "		for range 0 {\n",
	suite: managersOfNamespaces,
}, {
	bug:   "the first list of namespaces takes rejections of a watch back",
	in:    "typed/source.namespaceSink.reportRejected",
	old:   "watched && !s.synced",
	new:   "watched && s.synced",
	suite: tests("typed/source", "TestRejectedByAWatch"),
}, {
	bug:   "an object of a namespace that was removed is rejected for ever",
	in:    "typed/source.namespaceSink.reportRejected",
	old:   "	if !s.removed && !s.ended {\n",
	new:   "	if !s.ended {\n",
	suite: tests("typed/source", "TestRejectedByAWatch"),
}}
