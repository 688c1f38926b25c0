// Package typed keeps a local, indexed copy of API objects and tells handlers
// of every change, in terms of their Go type.
//
// An [Informer] is made from a [source.Source], most simply a generated client:
//
//	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
//
// Package kube has the sources that ask an API server, with a generated client or
// without. Package source has those that are made of others: of projections of their objects,
// or of a set of namespaces that changes. A [Factory] shares informers among all who
// want the same.
//
// Indexes ([Informer.AddIndexes]) and handlers ([Informer.Handle], or
// [Informer.Events] to range over events) can be added before and after it is
// started. [Informer.Run] blocks until its context ends; [Informer.WaitForSync]
// returns when the first list is in the store, or tells why it is not.
//
// The informer is also the store's read side, an [index.Reader]: Get, List,
// All, Namespace, Snapshot. Package lister reads from it as generated listers
// do. Reads never block the informer, whatever they do and however long they
// take.
//
// Package control has what a controller needs besides: handlers that put keys into a
// queue, filters for handlers, and expectations.
//
// Objects are shared by everybody who reads them or is told of them. They must
// not be modified; make a deep copy first.
package typed
