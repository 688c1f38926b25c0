// Package benchmarks compares this project's informers, stores and listers with
// those of client-go, side by side. It has nothing to import: all of it is in
// tests.
//
// # Running
//
// In a clone of the project,
//
//	go run ./benchmarks/compare -quick
//
// measures what takes less than three minutes on two cores, and without -quick everything, see
// its documentation. It runs each benchmark function in a separate process, one round after the
// other, and prints medians, ratios and targets. Each side is the last element of a benchmark's
// name, so benchstat -col /impl takes what go test prints as well. One run of that is no result,
// and with -count 6 a side is measured six times before it is the turn of the next: a machine
// that gets slower or warmer meanwhile favours one of them.
//
// For a look at a single one, name it:
//
//	go test -run '^$' -bench 'EventPipeline/handlers=4' -cpuprofile cpu.out ./benchmarks
//
// Relist takes about two seconds of waiting for each operation; -benchtime 10x
// bounds it. The tests of this package take a few seconds and check that the sides
// of a benchmark give the same results.
//
// # What is measured
//
//   - EventPipeline: a watch event, from the watch to all handlers.
//   - InitialSync, Relist: a list, from its arrival to the handler's last call.
//   - Latency: one event to one handler of an idle informer.
//   - Get, ParallelGet, ListerGet, ByIndex, List, ListSelector: reads that nothing disturbs.
//   - Update: one write to the store that nothing disturbs.
//   - ReadersVsWriter: an informer that is read by many while it is written to.
//   - WatchDecode, Projection, SyncProcess: watches and lists that are received
//     and decoded, from a server in another process.
//   - ResourceFactory: dynamic and metadata factories, each in a process.
//   - DecodeItem, DecodeUpdate, DecodeUpdateCold: bytes that become objects, without the network.
//   - Held: what such objects take in memory, and what the collector needs for
//     them.
//   - KeptProcess: processes that keep packed objects, deduplicated ones and
//     client-go's. It takes a quarter of an hour, and runs on request only.
//   - DropIn: an untyped program with either package's NewSharedIndexInformer.
//   - Footprint: heap and goroutines of an informer that has nothing to do.
//   - ScaleObjects, ScaleHandlers, ScaleIndexes, ScaleReaders: how EventPipeline
//     and ReadersVsWriter, the heap, and what the garbage collector takes depend
//     on the size of the informer. A million objects need 4 GB, and half a
//     minute before anything is measured.
//   - ViewInitial, ViewPodChange, ViewSelectorChange, ViewNodeChange, ViewPolicies: collections
//     that are computed from others, next to the same written by hand on client-go (by-hand).
//     The module peers compares them with istio's krt.
//   - WorkQueue: keys on their way from handlers to workers. The module peers
//     compares the same queue with controller-runtime's.
//
// Each benchmark's own comment defines an operation, and names the parts that are left out.
//
// # The sides
//
//   - typed: this project.
//   - client-go: its untyped API, which generated listers and most programs use.
//   - client-go-typed: its typed one, where that has a method for the task.
//   - typed-fair: this project's work queue with priorities and tenants that take
//     turns, which client-go's has not. It is compared with typed.
//
// client-go runs with its default feature gates: events in order, atomic
// replaces, batches. Its stores have the indexes that the benchmark names, and
// in addition, for what a lister does in a namespace, the one by namespace that
// informers from a factory have. This project's have that one always.
//
// Both sides get the same objects, in the same order, from the same source.
// They are Pods of about 8 KB of JSON, in which differs what differs in a cluster;
// see internal/test/pods. Where bytes are decoded, every Pod is whole. Where only
// pointers are handed on, Pods share what no side looks at; see
// benchmarks/internal/cluster.
//
// # What to keep in mind
//
//   - The source is in memory, except where a server is named above. In a
//     cluster, both sides also receive and decode what they get, which costs tens
//     of microseconds for a Pod, most of a program's time in informers, and is
//     not part of any figure here.
//   - Both sides list and watch by client-go's Reflector. Its cost is part of EventPipeline,
//     InitialSync, Relist and Latency on both sides, and makes their ratios smaller than those
//     of the code behind it.
//   - Lists arrive in one piece. Streamed lists (WatchList) add a temporary
//     store in the Reflector, on both sides.
//   - Handlers only count. The work of real ones is added to both sides.
//   - The garbage collector runs as it likes, except where a comment says otherwise. The heap of
//     a benchmark is mostly Pods, so it runs rarely, as in a program that caches as many; this
//     favours the side that allocates more. gc-ns/op of the Scale benchmarks is what an
//     operation owes it.
//   - Reads in a loop find less in the processor's caches with 100,000 objects
//     than with a thousand, and more than in a program that does other things
//     in between. Keys and objects are in random order for that reason, but the
//     same one in every run.
//   - A benchmark of several goroutines depends on the number of processors.
//     Compare figures only with those of the same machine and the same run.
package benchmarks
