// Package typed keeps a local, indexed copy of API objects, and calls handlers for every
// change, with their Go type.
//
// An [Informer] is made from a [source.Source], for example a generated client:
//
//	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
//
// Package kube contains sources for API servers, with or without a generated client. Package
// source derives sources from others: projections, and sets of namespaces that change. A
// [Factory] shares informers among their users.
//
// Indexes ([Informer.AddIndexes]) and handlers ([Informer.Handle], or [Informer.Events] to
// range over events) can be added before and after it is started. [Informer.Run] blocks until
// its context ends; [Informer.WaitForSync] returns when the first list is in the store, or the
// reason why it is not.
//
// The informer is also the store's read side, an [index.Reader]: Get, List,
// All, InNamespace, Snapshot. Package lister reads from it as generated listers
// do. Reads never block the informer, whatever they do and however long they
// take.
//
// Package control contains the parts of a controller: handlers that add keys to a queue,
// filters for handlers, and expectations.
//
// Objects are shared by all readers and handlers. Do not modify them; make a deep copy first.
package typed
