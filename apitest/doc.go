// Package apitest is an in-memory Kubernetes API server over HTTP, for tests
// and demonstrations: what net/http/httptest is to net/http. Tests can have it under
// virtual time.
//
//	srv, err := apitest.NewServer()
//	...
//	defer srv.Close()
//	client, err := kubernetes.NewForConfig(srv.Config())
//
// client-go's generated clients, dynamic and metadata clients, discovery,
// reflectors and informers talk to it unchanged, over a real connection on
// 127.0.0.1.
//
// # Virtual time
//
// In a bubble of testing/synctest, an hour takes milliseconds, and is an hour to the
// nanosecond. Start the server there, and everything else; nothing is said about
// time anywhere:
//
//	func TestBackoff(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			srv := apitest.Start(t)
//			srv.Inject(apitest.Fault{Verb: "create", Times: 5, Err: errors.New("not now")})
//			client, err := kubernetes.NewForConfig(srv.Config())
//			...
//			ctx, cancel := context.WithCancel(t.Context())
//			ended := make(chan error, 1)
//			go func() { ended <- runController(ctx, client) }()
//
//			time.Sleep(time.Hour) // returns at once: by then the hour is over
//			synctest.Wait()       // until everything has come to rest
//			...                   // look at the server
//			cancel()
//			... <-ended           // nothing may be left running
//		})
//	}
//
// The server notices by itself that it is in a bubble. Its connections are then in
// the memory of the process, since the clock stands still while anything waits for
// a socket; so the clients have to be made of [Server.Config], which the generated,
// dynamic and metadata clients, informers, leader election and the manager of
// controller-runtime are. The rules are those of testing/synctest, and a few more:
//
//   - Give Start the t of the function that synctest.Test calls, not the one outside:
//     the server must be closed in the bubble. Start fails the test otherwise.
//   - A server belongs to the bubble in which it was started. Used elsewhere, it says
//     so: see [ErrOtherBubble].
//   - Everything has to end before the bubble does: cancel contexts, and wait for
//     goroutines. The panic of synctest, "deadlock: main bubble goroutine has exited
//     but blocked goroutines remain", lists those that have not.
//   - A test that hangs has a goroutine that waits for something outside, such as a
//     socket, a process, or a lock that another test holds. The traces of go test
//     -timeout have it: those with "synctest bubble" but without "(durable)". Have
//     controller-runtime's manager serve no metrics, health or webhooks (BindAddress
//     "0").
//   - Bookmarks come every minute, see [WithBookmarks]. Each renewal of a lease is a
//     few requests; an hour of leader election takes one or two seconds.
//   - utilruntime.HandleError, of which client-go makes use, does not slow down its
//     callers in bubbles: it remembers when it was called last, by another clock.
//
// # What it serves
//
// Every kind of a scheme (client-go's by default, see WithScheme) that has object
// metadata and a list kind, and custom resources (see WithResources), which are
// served as unstructured objects unless the scheme knows them. Kinds of groups that
// Kubernetes does not have are custom resources in either case: they have no strategic
// merge, and no update without a resource version.
//
//   - Objects: create (with generateName), get, update, patch (JSON, merge,
//     strategic merge), delete (preconditions), deletecollection, the status
//     subresource, dry run. A write that changes nothing is no write.
//   - Scheduling: pods/binding and pods/eviction, with PodDisruptionBudgets, whose status
//     the test sets. The scale of Deployments, ReplicaSets, StatefulSets,
//     ReplicationControllers, and of custom resources with Resource.Scale.
//   - Deletion that waits: for finalizers, those of propagationPolicy among them, and
//     for the node of a Pod. A Pod that is on a node is marked, and stays until it is
//     deleted with a grace period of 0, which is how nodes say that it has stopped.
//     There are no nodes here: let the test do it, by [Server.Delete]. Other Pods go at
//     once.
//   - Server-side apply, with apimachinery's own field managers: managed fields,
//     conflicts, force, creation, removal of what a manager applies no more. Kinds of
//     Kubernetes are merged by client-go's schema; of others, the metadata alone have one,
//     and lists elsewhere are atomic. Objects that are stored without HTTP have no managed
//     fields; what is applied to them conflicts with the manager before-first-apply.
//   - Versions: one counter for all resources. Conflicts, generation (for the
//     kinds that have one in Kubernetes, and custom resources), UID and time stamps are the
//     server's.
//   - Lists: resourceVersion with each resourceVersionMatch, limit and continue
//     with every page at the version of the first, label and field selectors.
//   - Watches: from a version, from the present, and with sendInitialEvents,
//     with selectors (an object that leaves the selection looks deleted, one that enters it
//     added), bookmarks and timeoutSeconds. Events come in the order of their versions, each
//     exactly once. A watch that falls behind what is kept of the history gets an
//     ERROR event with status 410. A slow watch holds up no other.
//   - Formats: JSON, YAML, protobuf for the kinds that have it, and
//     PartialObjectMetadata in place of whole objects.
//   - Discovery, aggregated and not.
//
// Errors are the statuses of a real server, in HTTP or as ERROR events, wherever
// clients act on them. A suite of this module (internal/test/conformance) says so, and
// runs against real servers too.
//
// # What tests can do
//
//   - Begin with objects: WithObjects. Change them without HTTP: Create, Update,
//     Delete. Structs without generated code are objects, too: see Resource.Type.
//   - Have anything go wrong, by [Server.Inject] with a [Fault]: requests are refused,
//     aborted, or take effect without an answer. Watches end, break off, stall, or send
//     nonsense. Connections are slow, frozen, half-open or reset, one way or both.
//   - Have several servers on one store, of which some lag: [Server.Replica], Fault.Lag.
//     [Balance] moves clients from one to another.
//   - Forget history: Compact. Be an older server: WithoutWatchList.
//   - Have a seed decide what goes wrong, and when: package simulation.
//   - Look: Requests, Watches, WaitForWatches, ResourceVersion.
//
// # What it does not do
//
//   - No admission except by functions of the test, see [WithAdmission]. No defaulting, no
//     validation except of metadata, no authentication, no authorization. Unknown fields are
//     dropped silently.
//   - No life cycle of namespaces but with [WithNamespaceLifecycle]: a namespace need not
//     exist, and deleting one deletes nothing in it. No garbage collection but with
//     [WithGarbageCollection]: what propagationPolicy adds, the finalizers orphan and
//     foregroundDeletion, stays until a client removes it.
//   - No tables, no other subresources (such as logs and tokens), no OpenAPI, no TLS, no
//     HTTP/2, no WebSockets.
//   - No conversion except by functions of the test: each version of a kind is its own
//     resource, with its own objects, unless its [Resource] has a StorageVersion.
//   - Answers come at once where a real server waits: for a version that has not
//     been written yet, the error comes without a wait and without Retry-After. A
//     server that lags does wait, see Fault.Lag.
//   - The server sets no timeout of watches.
package apitest
