package main

// decoding are bugs of decoders, and of those who decode in the place of others.
var decoding = []mutation{
	{
		bug:   "what differs somewhere within is compared again at each level, in JSON",
		in:    "internal/decode/jsontree.pass.compare",
		old:   "	if like == nil || p.differs() {\n",
		new:   "	if like == nil {\n",
		suite: costs,
	},
	{
		bug:   "what differs somewhere within is compared again at each level, in protobuf",
		in:    "internal/decode/plan.decoder.pointer",
		old:   " && !d.differ.has(data)",
		new:   "",
		suite: costs,
	},
	{
		bug:   "a slice has room for as many elements as there were before, however few there are",
		in:    "internal/decode/jsontree.pass.room",
		old:   "		length = min(length, p.spare/int(size))\n",
		new:   "		length = max(0, length)\n",
		suite: costs,
	},
	{
		bug:   "elements that are skipped take memory until all of them are",
		in:    "internal/decode/jsontree.pass.elements",
		old:   "			p.members = p.members[:number]\n",
		new:   "			p.members = p.members[:number+1]\n",
		suite: costs,
	},
	{
		bug:   "a map has room for as many entries as a message, however few keys there are",
		in:    "internal/decode/plan.room",
		old:   "	if n > fewEntries && ",
		new:   "	if n < 0 && ",
		suite: costs,
	},
	{
		bug:   "two objects share a quantity, which readers write to",
		in:    "internal/decode/plan.Caches",
		old:   "			return true\n		}\n		for",
		new:   "			return false\n		}\n		for",
		suite: tests("internal/decode/plan", "TestQuantitiesOfAllTypesAreTheirOwn"),
	},
	{
		bug:   "two objects in JSON share the quantities that are pointed at",
		in:    "internal/decode/jsontree.pass.pointer",
		old:   "	if !n.elem.caches && ",
		new:   "	if ",
		suite: tests("internal/decode/jsontree", "TestQuantitiesOfAllStructsAreTheirOwn"),
	},
	{
		bug:   "an object is encoded for several clients, each of which writes to its quantities",
		in:    "apitest/internal/store.Table.write",
		old:   "	complete(to.Object)\n",
		new:   "",
		suite: tests("apitest/internal/store", "TestEncodingWritesNothing"),
	},
	{
		bug:   "a client that embeds a generated one is taken for that",
		in:    "typed/kube.generatedREST",
		old:   " || !isClientGos(client)",
		new:   "",
		suite: tests("typed/kube", "TestFromClientDecodesItself"),
	},
	{
		bug:   "options of a source are written to the memory of who passes them",
		in:    "typed/kube.FromClient",
		old:   "slices.Clip(opts)",
		new:   "opts",
		suite: tests("typed/kube", "TestFromClientLeavesOptionsAlone"),
	},
	{
		bug:   "a list that is made of several responses is the first of them",
		in:    "typed/kube.decodingListerWatcher.ListWithContext",
		old:   "	case several, err == nil && meta.LenList(list) > 0, err != nil && ctx.Err() == nil:\n",
		new:   "	case several && err != nil:\n",
		suite: tests("typed/kube", "TestDecodingMergedRequests"),
	},
	{
		bug:   "a watch that is made of several responses is the first of them",
		in:    "typed/kube.taker.offer",
		old:   "	case after && t.several != nil:\n",
		new:   "	case after:\n	case false:\n",
		suite: tests("typed/kube", "TestDecodingMergedRequests"),
	},
}

// costs looks for objects that cost more than they do apimachinery.
var costs = tests("internal/decode/wire", "FuzzCost")
