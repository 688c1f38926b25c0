package main

var packedFactories = tests("adapters", "TestPackedExcludes")

// responses are bugs of the parts that read and decode responses.
var responses = []mutation{{
	bug: "the first frames of a source are decoded in no time",
	in:  "typed/source.Meter.Decode",
	old: "frame > sampled",
	new: "frame > 0",
}, {
	bug: "frames are decoded on the reading goroutine while decoders are busy",
	in:  "internal/decode/wire.Pipeline.read",
	old: "frames.Buffered() < worthSharing && p.idle()",
	new: "frames.Buffered() < worthSharing",
}, {
	bug: "a lone frame is passed to a decoder",
	in:  "internal/decode/wire.Pipeline.read",
	old: "frames.Buffered() < worthSharing && p.idle()",
	new: "p.limit == 1 && p.idle()",
}, {
	bug: "reading never pauses",
	in:  "internal/decode/wire.Pipeline.put",
	old: "p.underWay+len(f.data) > p.limit*BytesUnderWay",
	new: "p.underWay+len(f.data) < 0",
}, {
	bug: "frames after one that cannot be decoded are decoded",
	in:  "internal/decode/wire.Pipeline.decodeRun",
	old: "		if r.err == nil && !p.ended.Load() {\n",
	new: "		if !p.ended.Load() {\n",
}, {
	bug: "two decoders emit at the same time",
	in:  "internal/decode/wire.Pipeline.work",
	old: "		mine := !p.emitting && p.taken[0].done\n",
	new: "		mine := p.taken[0].done\n",
}, {
	bug: "results are emitted after emit has returned false",
	in:  "internal/decode/wire.resultsOf.pass",
	old: "			return false\n",
	new: "			defer func() { more = false }()\n",
}, {
	bug: "a panic of a decoder ends nothing",
	in:  "internal/decode/wire.Pipeline.fail",
	old: "	p.abort()\n",
	new: "",
}, {
	bug: "chunks are never free",
	in:  "internal/decode/wire.chunk.release",
	old: "c.used.Add(-1) > 0",
	new: "c.used.Add(-1) >= 0",
}, {
	bug: "a frame that is cut off ends the watch without an error",
	in:  "internal/decode/wire.protobufFrames.need",
	old: "			return within(err)\n",
	new: "			return between(err)\n",
}, {
	bug: "offsets do not count the bytes of earlier buffers",
	in:  "internal/decode/wire.response.fill",
	old: "		r.before += int64(r.pos)\n",
	new: "",
}, {
	bug: "a watch that waits keeps its large buffer",
	in:  "internal/decode/wire.response.fill",
	old: "	case r.end == 0:\n		r.use(r.idle[:], nil)\n",
	new: "",
}, {
	bug: "a list may come twice in a response",
	in:  "internal/decode/wire.protobufItems.envelope",
	old: "	case number == 2:\n		return errors.New(\"more than one list\")\n",
	new: "	case number == 2:\n		return l.ignore(wireType)\n",
}, {
	bug: "an item may end after its list",
	in:  "internal/decode/wire.protobufItems.bytes",
	old: "n > math.MaxInt || l.inList && n > uint64(max(0, l.end-l.read))",
	new: "n > math.MaxInt",
}, {
	bug: "a response without a list is an empty list",
	in:  "internal/decode/wire.protobufItems.finish",
	old: "	if !l.listed {",
	new: "	if l.listed && l.end < 0 {",
}, {
	bug: "any object without items is an empty list",
	in:  "internal/decode/wire.Head.checkList",
	old: "strings.HasSuffix(h.Kind, \"List\")",
	new: "h.Kind != \"\"",
}, {
	bug: "a watch in JSON may contain other values than objects",
	in:  "internal/decode/wire.jsonFrames.Next",
	old: "	if c != '{' {\n",
	new: "	if c == 0 {\n",
}}

// sharedParts are bugs of the tables of shared parts.
var sharedParts = []mutation{{
	bug: "a part is never seen twice",
	in:  "internal/decode/parts.shard.sighted",
	old: "	set[0] = tag\n",
	new: "",
}, {
	bug: "a part takes another slot each time",
	in:  "internal/decode/parts.shard.put",
	old: "		*have = one\n		return false\n",
	new: "		*have = one\n",
}, {
	bug: "relatives are remembered without a bound",
	in:  "internal/decode/parts.Relatives.note",
	old: "	if len(r.known) == mostRelatives {\n",
	new: "	if len(r.known) < 0 {\n",
}, {
	bug: "objects of other namespaces are relatives",
	in:  "internal/decode/parts.Relatives.hash",
	old: " ^ maphash.String(r.seed, namespace)*0x9e3779b97f4a7c15",
	new: " ^ uint64(len(namespace))*0",
}, {
	bug: "the memory of parts that are gone is kept",
	in:  "internal/decode/parts.shard.giveBack",
	old: "	if alive < sampled/8 {\n",
	new: "	if alive < 0 {\n",
}, {
	bug: "memory is given back once only",
	in:  "internal/decode/parts.giveBack",
	old: "	t.watched.Store(false) // first: a shard that becomes large from now on is watched again\n",
	new: "",
}, {
	bug: "values are looked for where none are found",
	in:  "internal/decode/parts.Luck.Try",
	old: "		return !l.bad.Load()\n",
	new: "		return true\n",
}, {
	bug: "a value is kept when its bytes come first",
	in:  "internal/decode/parts.Table.Find",
	old: "	if !s.sighted(hash) {\n		return Part{}, Ticket{}\n	}\n",
	new: "	s.sighted(hash)\n",
}}

// pages are bugs of the page.
var pages = []mutation{{
	bug: "a foreign page may send requests",
	in:  "typed/inspect.settings.check",
	old: "!strings.EqualFold(from.Host, r.Host) && !s.isNamed(hostname(from.Host))",
	new: "from.Host == \"\"",
}, {
	bug: "a page of the same site may send requests",
	in:  "typed/inspect.settings.check",
	old: "	case \"\", \"none\", \"same-origin\":\n",
	new: "	case \"\", \"none\", \"same-origin\", \"same-site\":\n",
}, {
	bug: "a link may open a stream",
	in:  "typed/inspect.settings.check",
	old: "!streams && header",
	new: "header",
}, {
	bug: "any host is answered",
	in:  "typed/inspect.settings.isOwn",
	old: "!strings.Contains(name, \".\")",
	new: "name != \"\"",
}, {
	bug: "contents are shown without the option",
	in:  "typed/inspect.objectOf",
	old: "	if !contents {\n",
	new: "	if !contents && key.Name == \"\" {\n",
}, {
	bug: "Secrets in a list are shown",
	in:  "typed/inspect.containsSecret",
	old: "slices.ContainsFunc(value, containsSecret)",
	new: "len(value) < 0",
}, {
	bug: "Secrets are known by their source alone",
	in:  "typed/inspect.hasSecrets",
	old: " ||\n		strings.Contains(reflect.TypeOf(informer).String(), \"k8s.io/api/core/v1.Secret\")",
	new: " && reflect.TypeOf(informer) != nil",
}, {
	bug: "contents of an unknown kind are shown",
	in:  "typed/inspect.objectOf",
	old: "kind == \"\" && origin",
	new: "kind == \"none\" && origin",
}, {
	bug: "there is no limit of listeners",
	in:  "typed/inspect.streams.enter",
	old: " || s.number >= n {\n",
	new: " || s.number < 0 {\n",
}, {
	bug: "a listener that leaves keeps its place",
	in:  "typed/inspect.streams.leave",
	old: "	s.number--\n",
	new: "",
}, {
	bug: "listeners stay when the page is closed",
	in:  "typed/inspect.streams.close",
	old: "		close(s.closed)\n",
	new: "",
}, {
	bug: "each listener has a report made",
	in:  "typed/inspect.streams.frame",
	old: "	if s.latest == nil || ",
	new: "	if true || ",
}, {
	bug: "growth is shown from the first moment",
	in:  "typed/inspect.growth.rate",
	old: "over >= courseShort && ",
	new: "over > 0 && ",
}, {
	bug: "growth counts from the beginning",
	in:  "typed/inspect.growth.rate",
	old: "now.Sub(p.at) > courseLength",
	new: "now.Before(p.at)",
}, {
	bug: "what is gone is remembered",
	in:  "typed/inspect.growth.forget",
	old: "return c.used.Before(before)",
	new: "return false",
}, {
	bug: "a panic of an object ends the program",
	in:  "typed/inspect.jsonOf",
	old: "		if p := recover(); p != nil {",
	new: "		if p := any(nil); p != nil {",
}}

// groupFactories are bugs of the factories that replace those of client-go.
var groupFactories = []mutation{{
	bug:   "a factory has client-go decode",
	in:    "adapters/informers.kind.newFunc",
	old:   "			var lw cache.ListerWatcher = decodable\n",
	new:   "			lw := decodable.ListerWatcher\n",
	suite: tests("adapters", "TestDecoding"),
}, {
	bug:   "warnings of the server go to no handler of the client's",
	in:    "typed/kube.likeRESTClient",
	old:   "	client.Elem().Set(reflect.ValueOf(other).Elem())\n",
	new:   "	client.Elem().Set(reflect.ValueOf(other).Elem())\n	if made, err := rest.NewRESTClient(other.Get().AbsPath(\"/\").URL(), \"/\", rest.ClientContentConfig{}, nil, nil); err == nil {\n		client = reflect.ValueOf(made)\n	}\n",
	suite: tests("typed/kube", "TestWarnings.*"),
}, {
	bug:   "objects without deduplication have parts in common",
	in:    "internal/decode/wire.poolFor",
	old:   "		return unpooled()\n",
	new:   "		return wholeObjects()\n",
	suite: tests("adapters", "TestDecoding"),
}, {
	bug:   "a factory deduplicates without the option",
	in:    "adapters/informers.kind.newFunc",
	old:   "			decodable.Deduplicates = f.sharing\n",
	new:   "			decodable.Deduplicates = true\n",
	suite: tests("adapters", "TestDeduplication.*"),
}, {
	bug: "own writes reach no informer",
	in:  "adapters/informers.kind.newFunc",
	old: "			if f.writes != nil {\n",
	new: "			if f.writes != nil && f.sharing {\n",
}, {
	bug: "informers have no index by namespace",
	in:  "adapters/informers.kind.newFunc",
	old: "cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}",
	new: "cache.Indexers{}",
}, {
	bug: "informers have no resync period",
	in:  "adapters/informers.kind.newFunc",
	old: "			ResyncPeriod: resync,\n",
	new: "",
}, {
	bug: "resources in metrics are no plurals",
	in:  "adapters/informers.kind.label",
	old: " + \"s\"",
	new: "",
}, {
	bug: "kinds without namespaces follow a set of them",
	in:  "adapters/informers.clusterWide",
	old: "		k.namespaced = false\n",
	new: "",
}, {
	bug:   "a packed kind with a transform runs",
	in:    "adapters/informers.factory.packingErr",
	old:   "	if packed && f.transform {\n",
	new:   "	if packed && f.transform && f.packed.Err != nil {\n",
	suite: packedFactories,
}, {
	bug: "an example without a namespace is no mistake",
	in:  "adapters/informers.factory.spacesOf",
	old: "	return &listwatch.Namespaces{Err: fmt.Errorf(\"WithNamespaces: objects of type %T are in no namespace: do not name it\", k.example)}",
	new: "	return spaces",
}, {
	bug: "a factory of one namespace lists all of them",
	in:  "adapters/informers.WithNamespace",
	old: "		o.namespace = namespace\n",
	new: "",
}, {
	bug: "list options are not changed",
	in:  "adapters/informers.WithTweakListOptions",
	old: "		o.tweak = tweak\n",
	new: "",
}, {
	bug:   "an example of a foreign type is no mistake",
	in:    "adapters/informers.typesOf",
	old:   "!isOfClientGo(example)",
	new:   "example == nil",
	suite: packedFactories,
}}
