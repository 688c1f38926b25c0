package main

// decoding are bugs of decoders, and of code that replaces other decoders.
var decoding = []mutation{{
	bug:   "what differs somewhere within is compared again at each level, in JSON",
	in:    "internal/decode/jsontree.pass.compare",
	old:   "	if like == nil || p.differs() {\n",
	new:   "	if like == nil {\n",
	suite: costs,
}, {
	bug:   "what differs somewhere within is compared again at each level, in protobuf",
	in:    "internal/decode/plan.decoder.pointer",
	old:   " && !d.differ.has(data)",
	new:   "",
	suite: costs,
}, {
	bug:   "a slice has room for as many elements as there were before, however few there are",
	in:    "internal/decode/jsontree.pass.room",
	old:   "		length = min(length, p.spare/int(size))\n",
	new:   "		length = max(0, length)\n",
	suite: costs,
}, {
	bug:   "elements that are skipped take memory until all of them are",
	in:    "internal/decode/jsontree.pass.elements",
	old:   "			p.members = p.members[:number]\n",
	new:   "			p.members = p.members[:number+1]\n",
	suite: costs,
}, {
	bug:   "a map has room for as many entries as a message, however few keys there are",
	in:    "internal/decode/plan.room",
	old:   "	if n > fewEntries && ",
	new:   "	if n < 0 && ",
	suite: costs,
}, {
	bug:   "what is inserted does not count for where the next copy is from",
	in:    "internal/decode/packed.appendText",
	old:   "		next += int(size)\n		if delta = ",
	new:   "		if delta = ",
	suite: tests("internal/decode/packed", "TestDeltas"),
}, {
	bug:   "a base of any length serves a short object, and is kept by it",
	in:    "internal/decode/packed.scratch.diff",
	old:   "	if of.size > 2*len(bytes) {\n",
	new:   "	if of.size > 200*len(bytes) {\n",
	suite: tests("internal/decode/packed", "TestWorstCase"),
}, {
	bug:   "an object that is unlike its base is kept as its difference",
	in:    "internal/decode/packed.longest",
	old:   "max(len(bytes)/2, 16)",
	new:   "max(2*len(bytes), 16)",
	suite: tests("internal/decode/packed", "TestWorstCase"),
}, {
	bug:   "the same bytes take new memory",
	in:    "internal/decode/packed.Store.Pack",
	old:   "	if before.base == served && ",
	new:   "	if before.base == nil && ",
	suite: tests("internal/decode/packed", "TestSameBytesShareARecord"),
}, {
	bug:   "a packed object keeps the bytes of its state before",
	in:    "typed/kube.packing.pack",
	old:   "	if earlier, ok := before.(holder[T]); ok {\n",
	new:   "	if earlier, ok := before.(holder[T]); ok && earlier.packed().bytes != (packed.Record{}) {\n		into.from, into.bytes = p, earlier.packed().bytes\n		return\n	}\n	if earlier, ok := before.(holder[T]); ok {\n",
	suite: tests("typed/kube", "TestPacked$"),
}, {
	bug:   "packed objects of a list have no kind",
	in:    "typed/kube.namePacked",
	old:   "	for _, item := range list.Items {\n",
	new:   "	for _, item := range list.Items[:0] {\n",
	suite: tests("typed/kube", "TestPacked$"),
}, {
	bug:   "the codec of packed objects counts as their memory",
	in:    "internal/heapsize.Scale.references",
	old:   "!t.Implements(shared)",
	new:   "true",
	suite: tests("internal/heapsize", "TestShared"),
}, {
	bug:   "two objects share a quantity, which readers write to",
	in:    "internal/decode/plan.Caches",
	old:   "			return true\n		}\n		for",
	new:   "			return false\n		}\n		for",
	suite: tests("internal/decode/plan", "TestQuantitiesOfAllTypesAreTheirOwn"),
}, {
	bug:   "two objects in JSON share the quantities that are pointed at",
	in:    "internal/decode/jsontree.pass.pointer",
	old:   "	if !n.elem.caches && ",
	new:   "	if ",
	suite: tests("internal/decode/jsontree", "TestQuantitiesOfAllStructsAreTheirOwn"),
}, {
	bug:   "an object is encoded for several clients, each of which writes to its quantities",
	in:    "apitest/internal/store.Table.write",
	old:   "	complete(to.Object)\n",
	new:   "",
	suite: tests("apitest/internal/store", "TestEncodingWritesNothing"),
}, {
	bug:   "a client that embeds a generated one is taken for that",
	in:    "typed/kube.generatedREST",
	old:   " || !isClientGos(client)",
	new:   "",
	suite: tests("typed/kube", "TestFromClientDecodesItself"),
}, {
	bug:   "options of a source are written to the memory of who passes them",
	in:    "typed/kube.FromClient",
	old:   "slices.Clip(opts)",
	new:   "opts",
	suite: tests("typed/kube", "TestFromClientLeavesOptionsAlone"),
}, {
	bug:   "a list that is made of several responses is the first of them",
	in:    "typed/kube.decodingListerWatcher.ListWithContext",
	old:   "	case several, err == nil && meta.LenList(list) > 0, err != nil && ctx.Err() == nil:\n",
	new:   "	case several && err != nil:\n",
	suite: tests("typed/kube", "TestDecodingMergedRequests"),
}, {
	bug:   "a watch that is made of several responses is the first of them",
	in:    "typed/kube.taker.offer",
	old:   "	case after && t.several != nil:\n",
	new:   "	case after:\n	case false:\n",
	suite: tests("typed/kube", "TestDecodingMergedRequests"),
}, {
	bug:   "WithoutFields keeps the fields of an unexported struct that is embedded by a name",
	in:    "internal/decode/plan.Mask.clear",
	old:   "				(&Mask{}).clear(field)\n",
	new:   "",
	suite: tests("internal/decode/plan", "TestMasks.*"),
}, {
	bug:   "a packed object of an event has no kind",
	in:    "typed/kube.Packed.asEvent",
	old:   "p.event = true",
	new:   "p.event = false",
	suite: tests("typed/kube", "TestPackedKinds"),
}, {
	bug:   "each use of an option has another RESTMapper",
	in:    "typed/kube.WithRESTMapper",
	old:   "	if argument.CheckKey(mapper) != nil {\n",
	new:   "	if argument.CheckKey(mapper) != nil && false {\n",
	suite: tests("typed/kube", "TestForOfUncomparableMappers"),
}}

// costs looks for objects that cost more than they do apimachinery.
var costs = tests("internal/decode/wire", "FuzzCost")
