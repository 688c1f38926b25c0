// Package peers compares this project's queue with controller-runtime's priority
// queue, side by side. It has nothing to import: all of it is in tests. It is a
// module of its own, so that who imports this project need not know of
// controller-runtime.
//
// # Running
//
// As in the benchmarks beside client-go, the sides are the last element of each
// name, and one run is no result:
//
//	make bench-peers
//
// # The sides
//
//   - typed: queue.WorkQueue, with priorities and with ageing at its default.
//   - controller-runtime: what priorityqueue.New makes, which is what a
//     controller uses unless UsePriorityQueue is false.
//
// Each has the options that make it fastest. Neither keeps metrics: this
// project's queue has none unless it is told to; controller-runtime's has none if
// its name is empty (newQueueMetrics in priorityqueue/metrics.go), and is slower
// with those that a controller's queue has. Its AddOpts take a pointer to the
// priority, and get one that needs no allocation.
//
// Both get the same keys, with the same priorities, in the same order. Keys are
// added one by one, which is what handlers do (handler/enqueue_mapped.go), and
// handed out one by one. That controller-runtime's AddWithOpts can take several
// keys is not made use of; handing them out takes most of the time.
//
// Workers do nothing with a key. The work of real ones is added to both sides.
// So is what makes an event a key. The heap is small, so the garbage collector
// runs more often than in a program that caches objects, at the cost of the side
// that allocates, which is controller-runtime's; GOGC=off tells how much that
// is.
//
// # What both promise
//
// A key waits once, and is with one worker at a time. The higher of its
// priorities counts, and the sooner of its delays. Keys of a higher priority come
// first, and in one priority those that have had it longer; a key whose priority
// is raised goes to the end of its new line. TestSameOrder shows it.
//
// # What they do not both promise
//
// What is said of controller-runtime is from v0.25.2. Files are those of its
// folder pkg; where none is named, it is controller/priorityqueue/priorityqueue.go.
// The tests that are named run on both sides.
//
//   - Low priorities. controller-runtime hands out the first key of a tree that
//     is sorted by priority (handleReadyItems, lessReady). Keys of a low one wait
//     for as long as there are others. Here ageing sets a bound, by default
//     32 hand-outs in a row. TestLowPriorities.
//   - Shutdown. controller-runtime's ShutDown drops what waits: a Get that comes
//     later gets nothing, and one that is under way may return a key together with
//     the shutdown. ShutDownWithDrain is the same, and neither waits for
//     the queue's goroutines; a second call panics, as it closes a channel again.
//     Here, as in client-go, what waits is still handed out, ShutDownWithDrain
//     waits until it is done, and both may be called again. TestDrain.
//   - A delayed key that is added at once. In controller-runtime the add ends the
//     delay, and a delayed add of a key that waits is dropped
//     (lockedAddWithOpts). Here the two are independent, as in client-go, unless
//     WithJoinedDelays says otherwise. TestAddOfWhatIsDelayed.
//   - A key that is added while in process. In controller-runtime it takes its
//     place then, and counts in Len; whoever looks for the next key steps over
//     it. Here it takes its place when it is done, and counts in Len from then
//     on, as in client-go. TestAddOfWhatIsInProcess.
//   - Who does the work. In controller-runtime, Add puts the key into a buffer,
//     and goroutines of the queue do the rest: handleAddBuffer moves it into the
//     tree, handleReadyItems hands it to a worker through a channel without
//     room, one key after the other. It has four goroutines, five with metrics.
//     The rate limiter is asked by them too, so NumRequeues need not know yet of
//     an AddRateLimited that has returned. Here, who adds and who gets do it
//     under one lock; the queue has one goroutine while something is delayed, or
//     metrics have to be set, and none otherwise.
//   - What it costs. controller-runtime's tree takes time that grows with the
//     logarithm of the number of keys (a btree of k8s.io/utils). Here the number
//     of keys makes no difference, but that of priorities does: the queue is
//     meant for a handful.
//   - Fairness between tenants, a capacity, and a Get that heeds a context:
//     only here.
//   - A key that is added again. controller-runtime's controller gives it the
//     priority that it had (internal/controller/controller.go); here the queue does
//     so itself, in AddAfter and AddRateLimited. Both tell the priority with the key
//     (GetWithPriority).
package peers
