// Package view computes collections of objects from others, and keeps them up to date at
// the cost of what changes.
//
// A [View] is a description: of the objects of an informer ([Of]) or of a program's own
// ([Set]), and of what operators make of them and of each other. It is a source.Source, so
// that an informer runs it and keeps the result, with indexes, handlers and listers as of
// any other source:
//
//	services, pods := view.Of(serviceInformer), view.Of(podInformer)
//	endpoints := typed.NewInformer(view.JoinSelecting(services, pods,
//		func(s *corev1.Service) labels.Selector { return labels.SelectorFromSet(s.Spec.Selector) },
//		func(s *corev1.Service, pods iter.Seq[*corev1.Pod]) (*Endpoints, bool) { … },
//	))
//
// The program has to run the informers that it is made of.
//
// # Operators
//
//	Map, Filter, FlatMap           one object, and what a function makes of it
//	JoinOn                         objects of two views that have a key in common
//	JoinSelecting, JoinSelectedBy  those whose labels a selector matches
//	Group, Distinct                all objects of a key
//	Reduce                         a state of them, such as a sum, at the cost of the change
//	Union                          several views
//	Compute                        what a function makes of an object and of fetched ones
//
// Keys are of any comparable type ([One], [Many]). Objects are of any type with a name, so
// that what is computed is as small as a program needs it. What operators do not say is
// written with [Compute]: a function fetches from lookups ([By], [ByLabels], [BySelector]),
// and is called again when that changes.
//
// # What is promised
//
//  1. The objects of a view are those that computing from scratch, from one state of each
//     input, gives, whatever the order of changes. So functions are pure; [WithChecks] calls
//     each twice. The objects that a function is given come in the order of their namespaces
//     and names.
//  2. No object is computed from two states of one input, even where a view is made of others
//     that have an input in common: an informer computes all of them in one step, each once,
//     for all changes that wait. A reader sees a step as a whole, or nothing of it.
//  3. All that informers promise holds: order, store first, the initial list, late handlers.
//     The informer has synced when all inputs have; if they have not, WaitForSync reports
//     which, and why. An input that stops leaves what was made of it as it is.
//  4. Cost. A step calls functions for changed objects, and for those that depend on them, and
//     looks at no other objects. An object that is made again and is equal to the one before
//     is no change, see [WithEqual].
//  5. Versions. The resource version of the informer, and of each Snapshot of it, has the
//     versions of all inputs, see [View.ParseVersion]; for a single input it is the input's
//     own, so that WaitForResourceVersion works. For several, and for writes to
//     one of them, there is [View.WaitForResourceVersion].
//  6. A function that panics takes one object with it, which is reported as rejected by
//     its key (source.RejectedError) and stays as it was. Of objects that are made with one
//     name, one is kept and the others are reported; which one does not depend on the
//     order of changes. A rejection lasts until the object can be used or is gone, even if
//     another has its key.
//  7. Objects of inputs are shared, never copied; nothing is kept after Run.
//  8. Reasons. An object that goes because an input has released it, since its cluster has left
//     or a range has moved (index.Released, index.OutOfScope), has that reason, and is no
//     deletion, even where a change of another object has contributed.
//
// [View.Explain] reports why an object is there, and [View.Status] where the time goes.
//
// A view that two informers are made of is computed by each of them; share the informer,
// and give it to [Of], to compute it once.
//
// A view runs on the goroutine of its informer's Run, and calls functions from no other; those
// of a view that several informers are made of are called by several at the same time.
package view
