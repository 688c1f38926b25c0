// Package ctrlruntime puts this project's informers and work queue under
// controller-runtime, and feeds its controllers from typed informers. Each of the
// three pieces can be used alone, and none needs a change of reconcilers,
// handlers, predicates or tests.
//
// Under the manager's cache. What mgr.GetClient() reads, what For, Owns and
// Watches of the builder watch, and field indexes:
//
//	options.NewCache = ctrlruntime.NewCache() // then ctrl.NewManager(config, options)
//
// By WithDeduplication, objects are decoded here, and deduplicated. By ForKind and ForAllKinds,
// some of their fields are left out. By Typed they are read without copies, too, see
// Informer. By WithReferences, objects of a kind are followed by name, those that are read alone.
//
// Under a controller. A queue.WorkQueue in place of controller-runtime's priority
// queue, with all that this one has, reporting the same metrics:
//
//	err := ctrlruntime.ConfigureController(&options) // then controller.New, or WithOptions of the builder
//
// Next to the cache. A typed informer, with typed indexes and reads without copies, which the
// manager runs, and which feeds controllers:
//
//	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
//	err := mgr.Add(ctrlruntime.Runnable(pods))
//	...
//	err = c.Watch(ctrlruntime.NewSource(pods, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{}))
//
// Queue reports where it differs from controller-runtime's. Of the cache, nothing is known to.
//
// It is its own module, so that who imports this project need not know of controller-runtime.
// It is made for v0.25.
package ctrlruntime
