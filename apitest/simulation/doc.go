// Package simulation breaks controllers before clusters do.
//
// A simulation runs a program, its API servers, the network between them and their users in a
// bubble of virtual time, where an hour takes milliseconds. A seed decides what users do, what
// goes wrong and when, and how long each request and each event travels. The checks run
// whenever something has happened. A seed that fails fails again tomorrow.
//
//	func TestController(t *testing.T) {
//		simulation.Run(t, func(s *simulation.Simulation) {
//			s.Start("controller", func(ctx context.Context, config *rest.Config) error {
//				return runController(ctx, config)
//			})
//			s.Do(func(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
//				name := fmt.Sprint("web-", random.IntN(3))
//				_, err := client.AppsV1().ReplicaSets("shop").Create(ctx, replicaSet(name, random.IntN(5)), metav1.CreateOptions{})
//				return ignoreAlreadyExists(err)
//			})
//			s.Always("no ReplicaSet has more Pods than it may", func(now simulation.State) error {
//				for _, pod := range simulation.Objects[*corev1.Pod](now) { ... }
//			})
//			s.Eventually("each ReplicaSet has its Pods", 10*time.Minute, func(now simulation.State) error { ... })
//		})
//	}
//
// # What happens
//
// Processes, which [Simulation.Start] adds, get a client configuration, with which clients
// and informers of any kind are made. Each is connected with one of two API servers of
// [apitest] on one store. For ten to fifteen minutes, incidents happen, in which some
// faults come together, at least twenty in all, while users do things: see [Kind] for all
// there are. Two out of three seeds have a few kinds of faults only. Then all faults end,
// crashed processes come back, and what [Simulation.Eventually] asks for has to become so.
// "Something has happened" when a server has answered, an answer or an event has arrived, or
// users have done something, and all goroutines have come to rest; a timer of a process is
// not noticed.
//
// What survives a crash is what is on the servers. A process that has crashed gets no
// more answers, and its context ends. It is started again when run has returned.
// Requests that are on their way when it crashes, or when it gives them up, may still
// arrive, as in a network.
//
// # What can be asked
//
// A [State] contains the objects of the servers ([Objects]), and the author of each. A process
// checks its own memory with functions that it adds with [Always] and [Eventually] and its own
// context. They can use:
//
//   - Package history checks the calls of an informer's handlers: everything once and in
//     order, versions that never go back (history.History.Err), no deletion of an object that
//     is there (Undead), and in the end the objects of the server (history.Diff).
//   - [Workers] checks that no key of a work queue is lost, or is with two workers.
//   - An index is right if it has each object under its keys, and nothing else: for all
//     keys, slices.Collect(byNode.All(key)) has the objects of List on that node.
//   - A controller that does not read its own writes does things twice, which shows on the
//     server. Where it does not, the controller's function can check: it notes the version
//     of its write for a key, and compares when the key is processed again.
//
// Such as:
//
//	order, err := resourceversion.CompareResourceVersion(pods.ResourceVersion(), written[key])
//	if err == nil && order < 0 {
//		stale = fmt.Errorf("%v is processed without version %s", key, written[key])
//	}
//
// # When it fails
//
// The seed is made smaller: faults and acts of users that it does not take to fail are left
// out. The test prints what is left, the command that runs it again, and a trace: who wrote
// what, who saw which version when, what went wrong, and what processes have logged. Requests
// for Leases that are repeated are one line, with their number.
//
//	go test -run '^TestController$' example.com/controller -simulation.seed=17 -simulation.faults=3,9 -simulation.acts=2
//
// Events in protobuf, which kube.FromREST asks for, have their size in place of the version: to see
// it, run the seed once more with config.ContentType = "application/json" in the function of Start.
//
// # Seeds
//
// By default, Run takes the seeds 1 to 40, on all processors. Flags of go test say otherwise:
//
//	-simulation.seeds=2000     so many
//	-simulation.first=5000     from this one on
//	-simulation.for=8h         for so long
//	-simulation.parallel=4     so many at once; by default, as many as there are processors
//	-simulation.seed=17        this one alone, with its trace
//	-simulation.shrink=5m      how long a seed that fails is made smaller
//	-simulation.stuck=10s      how long nothing may happen, of real time
//
// # The same again
//
// A seed has the same trace each time, as far as Go allows. What follows from it are all
// decisions of the simulation, UIDs and generated names, and the jitter of this module's
// informers. client-go draws the jitter of reflectors and elections from a source that
// belongs to the whole program; the simulation can seed that if one file of the test says so,
// and if one seed runs at a time (-simulation.parallel=1):
//
//	//go:debug randseednop=0
//	package controller_test
//
// The remaining chance: which of several ready channels a select takes, the order of maps,
// what several goroutines do at the same instant, math/rand/v2, and what a program reads from
// outside. [Random] returns numbers that follow from the seed.
//
// # Rules
//
// They are those of testing/synctest. All that a process uses is made within run, of the
// configuration that it gets. It opens no sockets, and waits for nothing outside. Its run
// returns when its context has ended, after everything that it has started. A goroutine that
// waits for a [sync.Mutex] keeps the clock from continuing: do not hold one while you wait for
// time or for a request. A test that breaks a rule fails, and names the goroutines that do.
//
// A manager of controller-runtime v0.25 needs SkipNameValidation in its options, since a process
// starts several times. If its context ends before its caches have synced, its Start does not
// return but spins, so leave out the faults that start a process again:
//
//	s.Faults(simulation.AllBut(simulation.Crash, simulation.CrashBeforeWrite, simulation.CrashAfterWrite, simulation.Travel)...)
//
// Processes run on one clock, and share the memory of the test: neither clocks that differ nor
// programs that are stopped for a while and continue are simulated. The nearest to that is a
// write that arrives late: see [LateWrite].
package simulation
