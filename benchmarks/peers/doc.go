// Package peers compares this project with others that do the same tasks, side by side: its
// queue with controller-runtime's priority queue, and its informers and stores with
// controller-runtime's cache, istio's krt and Cilium's statedb. It has nothing to import: all of
// it is in tests. It is a separate module, so that a program that imports this project does not
// require the others.
//
// # Running
//
// As in the benchmarks against client-go, the sides are the last element of each name, and one
// run is no result. In the folder of the whole project:
//
//	go run ./benchmarks/compare -bench 'Peer|Priority'
//
// The first time, this compiles istio's clients, which takes minutes. The benchmarks against
// client-go, whose doc.go lists more to keep in mind, have the same Pods and send events in the
// same way (internal/cluster and internal/delivery).
//
// # What is measured
//
//   - Priority: keys with priorities on their way through a queue.
//   - PeerEvents: a watch event, from the watch through a cache with two indexes
//     to all handlers.
//   - PeerReads: reads of a cache that nothing disturbs.
//   - PeerUpdate: writes to a store without handlers.
//   - PeerViewInitial and others: collections that are computed from others.
//
// # Caches: the sides
//
// These comments describe the peers in these versions: controller-runtime v0.25.2, istio at
// commit eed52ebb66ad of August 2026, of its line 1.31, as its releases are not versions of the
// module, and statedb v0.8.0. istio requires versions of istio.io/api, istio.io/client-go and
// go-control-plane that could not be had from the module proxy; go.mod has later ones, which
// take no part in the measurements. client-go is v0.37.2 on all sides.
//
//   - typed: typed.Informer from FromListerWatcher; in PeerUpdate, its
//     index.Indexer.
//   - controller-runtime: cache.New, with fields indexed by IndexField and
//     handlers added to what GetInformer returns. It has
//     DefaultUnsafeDisableDeepCopy, which makes reads as fast as they can be.
//     A read fills in an object of the caller's, a new one each time, as
//     reconcilers do.
//   - controller-runtime-copies: the same without that option, which is the
//     default. It makes no difference to events.
//   - krt: krt.NewInformer, with NewIndex, NewNamespaceIndex and RegisterBatch. The client is
//     istio's fake one, whose list and watch of Pods are replaced. krt is made for collections
//     that are computed from others, each with a separate store and listeners; see Views.
//   - statedb: a table with the indexes key, node and app, without metrics, as in its own
//     benchmarks. Pods of a namespace are those with a prefix of the key. Handlers are
//     goroutines with a change iterator each (Changes), as in its README. Lists and watches are
//     not part of statedb, so the tests imitate the way in which Cilium fills its tables
//     (reflection_test.go): a Reflector, a channel, and a transaction for the changes since the
//     last one. Cilium waits for up to 50 ms for a transaction to fill. With as many events in
//     flight as there are here, that would be most of the time; transactions have thousands of
//     Pods without it.
//
// All sides get the same Pods by way of client-go's Reflector, from memory: nothing is decoded.
// The lists of typed, krt and statedb are slices of pointers to the Pods in the cache. A PodList
// of controller-runtime holds the Pods themselves, about 1.2 KB each, even with that option:
// that is its API.
//
// # Caches: what all promise
//
// Reads by key, by index, of a namespace and of everything find the same Pods,
// TestPeersReadTheSame. Each handler is called for all Pods of the first list, and knows the
// last state of each Pod in the end. When it is called, a read returns the state in the event,
// or a later one. TestPeersDeliverTheSame.
//
// # Caches: what they do not all promise
//
// Files are those of pkg/cache of controller-runtime, unless another folder is
// named, of pkg/kube/krt of istio, and of statedb.
//
//   - Each update. Here, in controller-runtime and in krt's informers, a handler receives each
//     update, in order (for krt, Register in core.go). An iterator of statedb returns the latest
//     state of each object that has changed since its last call, in the order of their last
//     changes, without the state before. Of an object that was created and deleted meanwhile, it
//     returns only the deletion (Changes in types.go). That bounds the memory that a slow reader
//     takes; here, Coalesce does. PeerEvents counts an update that is skipped as one that has
//     arrived. TestChangesAreMerged. krt's computed collections skip states as well
//     (onPrimaryInputEvent in collection.go), and results that are equal (EventStream in
//     core.go).
//   - What a handler gets. Here an update comes with both objects, and a deletion
//     with the last one, never a tombstone. So it does in krt. controller-runtime
//     hands on what client-go has, with its DeletedFinalStateUnknown, which the
//     sources of controllers unwrap (pkg/internal/source/event_handler.go).
//   - Batches. RegisterBatch of krt is meant as an optimization, but informers call it for one
//     event at a time, and for the objects that are there already, whatever runExistingState
//     says (RegisterBatch in informer.go). TestBatchesOfInformers.
//   - Whose the objects are. controller-runtime returns deep copies, which the caller may
//     modify, and which have their kind set; with the option, it returns copies of the struct
//     that share all else with the cache, and have no kind (internal/cache_reader.go). The
//     others return the cache's object, which must not be modified. TestReturnedMaps. Here an
//     index survives a modification, as it keeps the index keys next to the object; statedb
//     panics when an object is inserted again that it has already (modify in write_txn.go).
//   - A state that stays. A read transaction of statedb is a state of all tables that costs
//     nothing to keep, and takes no lock. Here a Snapshot is one of a store, which costs copies
//     of the parts that later writes change, and reads hold a lock for a moment that does not
//     depend on the number of objects. TestStateThatStays. In controller-runtime and krt each
//     read is on its own, and holds the read lock of client-go's store while it copies.
//   - Order. statedb returns objects in the order of their keys, and finds those
//     with a prefix, or from a key on. On all other sides the order is arbitrary.
//   - Index keys. Here they are of any comparable type. In controller-runtime they
//     are strings, each of which is kept twice, with the namespace and without
//     (indexByField in informer_cache.go), so that a namespace can be asked for as
//     well. In krt they are strings or have a String method (toString in
//     index.go), and in statedb bytes that sort.
//   - Reads of a kind that is not cached yet: controller-runtime begins to cache it, and waits
//     (Get in internal/informers.go).
//   - Only statedb has transactions over several tables, writers other than the watch, and
//     channels that close when a certain object, or the result of a query, changes. Only krt
//     computes collections from others, and recomputes the parts that depend on a change.
//
// # Views: the sides
//
// All make the same results of the same objects, with the same functions, and call a handler for
// each that has changed; views.Check compares them with a scan.
//
//   - typed: view.JoinSelecting, JoinOn and JoinSelectedBy on informers that list and watch from
//     memory, and an informer of the result. typed-set has view.Set instead of the informers.
//   - krt: krt.NewCollection on collections that the program changes
//     (NewStaticCollection), which costs it less than informers do: there is no
//     Reflector and no client-go behind it. Fetch has FilterIndex by namespace and
//     FilterLabel or FilterSelects, or FilterKey. Results have a method Equals.
//   - krt-by-app: the same with Pods indexed by namespace and the label app, which all
//     Services of the benchmark select by: the best that one can do if that is known.
//   - by-hand: client-go's shared informers with the indexes that the task needs, by the label
//     app and by Node. Their handlers put the objects to compute into a work queue. One worker,
//     which starts when all have synced, computes each from the indexers, and compares it with
//     the previous result.
//
// # Queues: the sides
//
//   - typed: queue.WorkQueue, with priorities and with ageing at its default.
//   - controller-runtime: the queue of priorityqueue.New, which a controller uses unless
//     UsePriorityQueue is false.
//
// Each side uses its fastest options. Neither keeps metrics: this project's queue has none by
// default. controller-runtime's has none if its name is empty (newQueueMetrics in
// priorityqueue/metrics.go), and is slower with those that a controller's queue has. Its AddOpts
// take a pointer to the priority, and get one that needs no allocation.
//
// Both get the same keys, with the same priorities, in the same order. Keys are
// added one by one, which is what handlers do (handler/enqueue_mapped.go), and
// handed out one by one. That controller-runtime's AddWithOpts can take several
// keys is not made use of; handing them out takes most of the time.
//
// Workers do nothing with a key. The work of real ones is added to both sides. So is the work
// that turns an event into a key. The heap is small, so the garbage collector runs more often
// than in a program that caches objects, at the cost of the side that allocates, which is
// controller-runtime's; GOGC=off shows how much that is.
//
// # Queues: what both promise
//
// A key waits once, and is with one worker at a time. The higher of its
// priorities counts, and the sooner of its delays. Keys of a higher priority come
// first, and in one priority those that have had it longer; a key whose priority
// is raised goes to the end of its new line. TestSameOrder shows it.
//
// # Queues: what they do not both promise
//
// This list describes controller-runtime v0.25.2. Files are those of its folder pkg; where none
// is named, it is controller/priorityqueue/priorityqueue.go. The tests that are named run on
// both sides.
//
//   - Low priorities. controller-runtime hands out the first key of a tree that
//     is sorted by priority (handleReadyItems, lessReady). Keys of a low one wait
//     for as long as there are others. Here ageing sets a bound, by default
//     32 hand-outs in a row. TestLowPriorities.
//   - Shutdown. controller-runtime's ShutDown drops what waits: a Get that comes later gets
//     nothing, and one in progress may return a key together with the shutdown.
//     ShutDownWithDrain is the same, and neither waits for the queue's goroutines; a second call
//     panics, as it closes a channel again. Here, as in client-go, what waits is still handed
//     out, ShutDownWithDrain waits until it is done, and both may be called again. TestDrain.
//   - A delayed key that is added at once. In controller-runtime the add ends the
//     delay, and a delayed add of a key that waits is dropped
//     (lockedAddWithOpts). Here the two are independent, as in client-go, unless
//     WithJoinedDelays says otherwise. TestAddOfDelayedKey.
//   - A key that is added while in process. In controller-runtime it takes its place then, and
//     counts in Len; each search for the next key steps over it. Here it takes its place when it
//     is done, and counts in Len from then on, as in client-go. TestAddOfKeyInProcess.
//   - The work. In controller-runtime, Add puts the key into a buffer, and goroutines of the
//     queue do the rest: handleAddBuffer moves it into the tree, handleReadyItems hands it to a
//     worker through a channel without room, one key after the other. It has four goroutines,
//     five with metrics. The rate limiter is asked by them too, so NumRequeues need not know yet
//     of an AddRateLimited that has returned. Here, Add and Get do it under one lock; the queue
//     has one goroutine while something is delayed, or metrics have to be set, and none
//     otherwise.
//   - What it costs. controller-runtime's tree takes time that grows with the logarithm of the
//     number of keys (a btree of k8s.io/utils). Here the number of keys makes no difference,
//     while the number of priorities does: the queue is meant for a handful.
//   - Fairness between tenants, a capacity, and a Get that ends with a context: only here.
//   - A key that is added again. controller-runtime's controller gives it the priority that it
//     had (internal/controller/controller.go); here the queue does so itself, in AddAfter and
//     AddRateLimited. Both return the priority with the key (GetWithPriority).
package peers
