package main

// listAndWatch are bugs of sources on an API server.
var listAndWatch = foundBy(informers, []mutation{{
	bug: "a relist takes any version, however old",
	in:  "typed/kube.requestConfig.list",
	old: "	if c.latest && opts.Continue == \"\" {\n		opts.ResourceVersion = \"\"\n",
	new: "	if opts.Continue == \"\" && opts.SendInitialEvents == nil {\n		opts.ResourceVersion = \"0\"\n",
}, {
	bug: "a watch begins at the newest version, not at that of the list",
	in:  "typed/kube.retryingListerWatcher.WatchWithContext",
	old: "	lw.config.requests.watch(ctx, &opts)\n",
	new: "	lw.config.requests.watch(ctx, &opts)\n	if opts.SendInitialEvents == nil {\n		opts.ResourceVersion = \"\"\n	}\n",
}, {
	bug: "a list ends after its first page",
	in:  "typed/kube.restListerWatcher.readList",
	old: "	list.nameKinds()\n",
	new: "	list.nameKinds()\n	list.Continue = \"\"\n",
}, {
	bug: "a streamed list ends one object early",
	in:  "typed/kube.reflectorStore.Replace",
	old: "	for _, untyped := range list {\n		done, streamed",
	new: "	if len(list) > 0 {\n		if _, streamed := list[0].(source.Staged); streamed {\n			list = list[:len(list)-1]\n		}\n	}\n	for _, untyped := range list {\n		done, streamed",
}, {
	bug: "a streamed list that was cut off counts as complete",
	in:  "typed/kube.restWatch.breakOff",
	old: "	case w.lists:\n		err = w.named(errCutList)\n",
	new: "	case w.lists:\n		done := &metav1.PartialObjectMetadata{}\n		done.ResourceVersion, done.Annotations = \"1\", map[string]string{metav1.InitialEventsAnnotationKey: \"true\"}\n		w.send(watch.Event{Type: watch.Bookmark, Object: w.lw.bookmark(done)})\n",
}, {
	bug: "a deletion is taken for a change",
	in:  "typed/kube.reflectorStore.Delete",
	old: "		s.sink.Change(index.Change[T]{Delete: true, Object: obj}, version)\n",
	new: "		s.sink.Change(index.Change[T]{Object: obj}, version)\n",
}, {
	bug:   "an event is passed on twice",
	in:    "typed/kube.restWatch.emit",
	old:   "	w.note(version)\n	return true",
	new:   "	if w.last != version {\n		w.note(version)\n		return w.send(watch.Event{Type: e.Type, Object: wrap(e.Object)})\n	}\n	return true",
	suite: reads,
}, {
	bug: "the first event after a streamed list is lost",
	in:  "typed/kube.restWatch.emit",
	old: "	if w.lists && w.list != nil {\n",
	new: "	if !w.lists && w.list != nil && w.list.timeout != 0 {\n		w.list.timeout = 0\n		return true\n	}\n	if w.lists && w.list != nil {\n",
}, {
	bug: "a source gives up after a list that has failed",
	in:  "typed/kube.reflectorSource.listAndWatch",
	old: "			lw.ended(err)\n",
	new: "			lw.ended(err)\n			<-ctx.Done()\n",
}, {
	bug: "a watch that was stopped waits for somebody to take its next event",
	in:  "typed/kube.restWatch.send",
	old: "	select {\n	case w.events <- e:\n		return true\n	case <-w.ctx.Done():\n		return false\n	}",
	new: "	w.events <- e\n	return true",
}, {
	bug:   "what a decoder has not decoded yet counts as nothing",
	in:    "internal/decode/wire.Pipeline.emitDone",
	old:   "		if len(p.taken) == 0 || !p.taken[0].done || p.err != nil {\n",
	new:   "		if len(p.taken) == 0 || p.err != nil {\n",
	suite: tests("internal/decode/wire", ".*"),
}, {
	bug:   "a streamed list that brings nothing is waited for",
	in:    "typed/kube.streamedList.watchOver",
	old:   "cancel(errSilence)",
	new:   "_ = cancel",
	suite: tests("adapters", "TestStreamedListsEnd"),
}, {
	bug:   "a list that cannot be streamed is asked to be, again and again",
	in:    "typed/kube.streamedLists.giveUp",
	old:   "	if forGood {\n",
	new:   "	if forGood && s.report == nil {\n",
	suite: tests("adapters", "TestStreamedListsEnd"),
}, {
	bug:   "streamed lists that end too early are asked for again and again",
	in:    "typed/kube.streamedLists.isCutTooOften",
	old:   "	return s.cuts >= maxCutLists || time.Since(s.since) >= s.silence",
	new:   "	return s.cuts < 0",
	suite: tests("adapters", "TestStreamedListsEnd"),
}, {
	bug:   "fakes that do not know of streamed lists are waited for",
	in:    "typed/kube.isFake",
	old:   "		return true\n",
	new:   "		return w == nil\n",
	suite: tests("adapters", "TestFakesThatDoNotSaySo"),
}, {
	bug:   "the only fake watch of a test is stopped",
	in:    "typed/kube.GuardedListerWatcher.stopFake",
	old:   "	if g.fake != nil && g.fake != next {",
	new:   "	if g.fake != nil {",
	suite: tests("adapters", "TestFakesThatDoNotSaySo"),
}})
