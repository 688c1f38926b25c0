package main

var waitedKinds = tests("typed/kube", "TestWaitForKind")

// ofKinds are bugs of informers whose kind the server does not always have.
var ofKinds = foundBy(tests("adapters/ctrlruntime", "TestKinds.*|TestOptional|TestInspect|TestManagerWithKindsThatComeLater"), []mutation{{
	bug: "a kind has gone when discovery fails",
	in:  "adapters/ctrlruntime.managerCache.lookAfterSuspects",
	old: "		case err != nil:\n",
	new: "		case err != nil && time.Since(since) < time.Minute:\n			c.suspects[kind] = time.Now()\n		case err != nil:\n			c.mu.Unlock()\n			c.setGone(kind, noMatch(kind))\n			continue\n",
}, {
	bug: "the gate of a kind that is back stays closed",
	in:  "adapters/ctrlruntime.gate.set",
	old: "	g.closed = closed\n",
	new: "	g.closed = g.closed || closed\n",
}, {
	bug: "the watch of a kind that is back is not ended",
	in:  "adapters/ctrlruntime.gate.set",
	old: "	for _, w := range g.idle {",
	new: "	for _, w := range g.idle[:0] {",
}, {
	bug: "index functions of a missing kind are lost",
	in:  "adapters/ctrlruntime.deferredInformer.attach",
	old: "		if err := to.IndexField(ctx, d.example, d.fields[0].name, d.fields[0].keys); err != nil {\n			return err\n		}\n",
	new: "",
}, {
	bug: "handlers of a missing kind are lost",
	in:  "adapters/ctrlruntime.deferredInformer.attach",
	old: "		if h.real != nil {\n",
	new: "		if h.real == nil {\n",
}, {
	bug: "reads of a kind that has gone find nothing, and no error",
	in:  "adapters/ctrlruntime.managerCache.reader",
	old: "	if err := c.gone[kind.kind]; err != nil {\n		return nil, err\n	}\n",
	new: "",
}, {
	bug: "reads of a kind that is missing ask a cache without it",
	in:  "adapters/ctrlruntime.managerCache.setGone",
	old: "	delete(c.gone, kind)\n",
	new: "",
}, {
	bug: "definitions that change bring no look",
	in:  "adapters/ctrlruntime.managerCache.lookAgain",
	old: "	case c.wake <- struct{}{}:\n",
	new: "	case make(chan struct{}) <- struct{}{}:\n",
}, {
	bug: "objects are deleted when they may not be listed any more",
	in:  "adapters/ctrlruntime.gate.hasListed",
	old: "	return g.listed\n",
	new: "	return false\n",
}, {
	bug: "any kind that may not be listed is optional",
	in:  "adapters/ctrlruntime.managerCache.missed",
	old: "	case c.isOptional(kind):\n",
	new: "	default:\n",
}, {
	bug: "a program is ready before its informers are",
	in:  "adapters/ctrlruntime.managerCache.ready",
	old: "	if err == nil {\n",
	new: "	if err != nil {\n",
}, {
	bug:   "a kind has gone for a typed program when discovery fails",
	in:    "typed/kube.isMissing",
	old:   "return errors.Is(err, errNoSuchResource) || apierrors.IsNotFound(err)",
	new:   "return err != nil",
	suite: waitedKinds,
}, {
	bug:   "the objects of a kind that has gone stay",
	in:    "typed/kube.kindWaiter.reportMissing",
	old:   "	w.sink.Replace(source.List{}, \"\")\n",
	new:   "",
	suite: waitedKinds,
}, {
	bug:   "definitions are not watched",
	in:    "typed/kube.kindWaiter.pause",
	old:   "	case <-w.wake:\n",
	new:   "	case <-make(chan struct{}):\n",
	suite: waitedKinds,
}})
