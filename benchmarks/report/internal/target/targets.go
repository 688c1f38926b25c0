package target

import "fmt"

func informers() []Target {
	targets := []Target{
		{Name: "EventPipeline/handlers=1", AtLeast: 4, Work: "watch event to 1 handler, store with 2 indexes", Guarded: true},
		{Name: "EventPipeline/handlers=4", AtLeast: 8, Work: "watch event to 4 handlers", Headline: true, Guarded: true},
		{Name: "EventPipeline/handlers=16", AtLeast: 8, Work: "watch event to 16 handlers", Guarded: true},
		{Name: "InitialSync/objects=100000", AtLeast: 3, Work: "first list of 100,000 objects, to the last handler call"},
		{Name: "Relist/objects=100000", AtLeast: 3, Work: "relist of 100,000 objects"},
		{Name: "Relist/objects=100000", Unit: "peak-extra-B", AtLeast: 2, Work: "the same, extra heap"},
		{Name: "Get", AtLeast: 1, Work: "get by key"},
		{Name: "ListerGet", AtLeast: 1.5, Work: "get from a lister"},
		{Name: "ByIndex/matches=1/form=slice", AtLeast: 1.5, Work: "1 object by index, as a slice"},
		{Name: "ByIndex/matches=100/form=slice", AtLeast: 5, Work: "100 objects by index, as a slice", Headline: true, Guarded: true},
		{Name: "ByIndex/matches=2000/form=slice", AtLeast: 10, Work: "2,000 objects by index, as a slice"},
		{Name: "List/objects=100000/form=slice", AtLeast: 15, Work: "list of 100,000 objects, as a slice"},
		{Name: "ListSelector/objects=100000/index=label", AtLeast: 100, Work: "label selector in a lister, with an index", Guarded: true},
		{Name: "ListSelector/objects=100000/index=none", AtLeast: 2, Work: "the same without an index"},
		{Name: "Update/indexes=0", AtLeast: 1.5, Work: "store update"},
		{Name: "Update/indexes=2", AtLeast: 3, Work: "store update, 2 indexes"},
	}
	for _, readers := range []int{8, 80} {
		name := fmt.Sprintf("ReadersVsWriter/objects=160000/readers=%d", readers)
		targets = append(targets,
			Target{Name: name, Unit: "writes/s", AtLeast: 5, Work: fmt.Sprintf("writes a second beside %d readers", readers)},
			Target{Name: name, Unit: "reads/s", AtLeast: 5, Work: fmt.Sprintf("reads a second of %d readers beside a writer", readers)})
	}
	targets = append(targets,
		Target{Name: "Latency", Unit: "p50-sec", AtLeast: 1, Work: "latency of one event, median"},
		Target{Name: "Latency", Unit: "p99-sec", AtLeast: 1, Work: "latency of one event, 99th percentile"},
		Target{Name: "Footprint/objects=100000", Unit: "B/object", AtLeast: 1, Work: "heap of store and 2 indexes, beyond the objects"})
	return against(clientGo, targets)
}

// dropIn are for an untyped program whose constructor was replaced.
func dropIn() []Target {
	return against(clientGo, []Target{
		{Name: "DropIn/EventPipeline/handlers=1", AtLeast: 3, Work: "drop-in: watch event to 1 handler", Guarded: true},
		{Name: "DropIn/EventPipeline/handlers=4", AtLeast: 6, Work: "drop-in: watch event to 4 handlers", Headline: true, Guarded: true},
		{Name: "DropIn/EventPipeline/handlers=16", AtLeast: 6, Work: "drop-in: watch event to 16 handlers", Guarded: true},
		{Name: "DropIn/InitialSync", AtLeast: 3, Work: "drop-in: first list of 100,000 objects"},
		{Name: "DropIn/ByIndex/matches=100", AtLeast: 4, Work: "drop-in: 100 objects by index"},
		{Name: "DropIn/ListerList", AtLeast: 4, Work: "drop-in: list by a generated lister"},
		{Name: "DropIn/GetByKey", AtLeast: 1, Work: "drop-in: get by key"},
	})
}

func queues() []Target {
	loads := []struct {
		name     string
		times    float64
		work     string
		guarded  bool
		priority bool // whether it has a counterpart among the peers
	}{
		{"AddGetDone", 1.5, "a key is added, handed out and done", true, true},
		{"Burst1000", 2, "1,000 keys at once", false, true},
		{"Duplicates", 2, "the same, each added twice", false, false},
		{"Contended8x8", 2, "8,000 keys, 8 who add and 8 workers", false, true},
		{"RateLimited", 2, "1,000 keys that fail once, rate limited", true, false},
		{"AddAfter100k", 3, "100,000 delayed keys that all come due", false, false},
	}
	var targets, peers, fair []Target
	for _, l := range loads {
		name := "WorkQueue/" + l.name
		targets = append(targets, Target{Name: name, AtLeast: l.times, Work: "work queue: " + l.work, Guarded: l.guarded})
		// With priorities and fairness, at most 1.5 times what it takes without.
		fair = append(fair, Target{Name: name, Side: "typed-fair", AtLeast: 1 / 1.5})
		if l.priority {
			peers = append(peers, Target{Name: "Priority/" + l.name, AtLeast: 3, Work: "priority queue: " + l.work})
		}
	}
	targets = append(against(clientGo, targets), against(here, fair)...)
	return append(targets, against(controllerRuntime, peers)...)
}

// sources are targets for objects that are received and decoded. That of a watch depends on the
// number of processors.
func sources() []Target {
	var targets []Target
	for _, encoding := range []string{"protobuf", "json"} {
		name := "WatchDecode/encoding=" + encoding
		targets = append(targets,
			Target{Name: name + "/gomaxprocs=1", Unit: "events/s", AtLeast: 0.95, Work: "events a second from the socket to a handler, 1 processor, " + encoding},
			Target{Name: name + "/gomaxprocs=2", Unit: "events/s", AtLeast: 1.3, Work: "events a second from the socket to a handler, " + encoding})
	}
	targets = append(targets,
		Target{Name: "WatchDecode/encoding=protobuf/gomaxprocs=2", Unit: "cpu-sec/op", AtLeast: 2.5, Work: "an update of a Pod from the socket to a handler, CPU time", Headline: true},
		Target{Name: "Projection/encoding=json", Unit: "cpu-sec/object", AtLeast: 2, Work: "list kept as six fields, CPU time"},
		Target{Name: "Projection/encoding=json", Unit: "heap-B/object", AtLeast: 5, Work: "the same, heap"})
	return against(clientGo, targets)
}

// limits are targets without a peer.
func limits() []Target {
	targets := decodingLimits()
	for _, handlers := range []int{1, 4, 16} {
		name := fmt.Sprintf("EventPipeline/handlers=%d", handlers)
		targets = append(targets,
			Target{Name: name, Unit: allocations, AtMost: 1},
			Target{Name: name, Unit: "B/op", AtMost: 64})
	}
	for _, name := range []string{
		"Get", "ListerGet", "ByIndex/matches=1/form=range", "ByIndex/matches=100/form=range", "ByIndex/matches=2000/form=range",
		"List/objects=100000/form=range", "Update/indexes=0", "Update/indexes=2",
		"WorkQueue/AddGetDone", "WorkQueue/Burst1000", "WorkQueue/Duplicates", "WorkQueue/Contended8x8", "WorkQueue/RateLimited", "WorkQueue/AddAfter100k",
	} {
		targets = append(targets, Target{Name: name, Unit: allocations, AtMost: 0})
	}
	targets = append(targets,
		Target{Name: "Footprint/objects=100000", Unit: "goroutines-1-handler", AtMost: 3 + 1},
		Target{Name: "Footprint/objects=100000", Unit: "goroutines-16-handlers", AtMost: 3 + 16})
	return against("", targets)
}

// against fills in the peer and, where nothing else is said, the side and unit.
func against(peer string, targets []Target) []Target {
	for i := range targets {
		t := &targets[i]
		t.Peer = peer
		if t.Side == "" {
			t.Side = here
		}
		if t.Unit == "" {
			t.Unit = perOperation
		}
	}
	return targets
}
