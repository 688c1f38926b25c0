// Package typed keeps a local, indexed copy of API objects and tells handlers
// of every change, without an interface{} or a type assertion in sight.
//
// An [Informer] is made from a [Source], most simply a generated client:
//
//	pods := typed.NewInformer(typed.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
//
// Sources are made of others: [Map] and [FilterMap] keep what is needed of objects,
// and [FromNamespaces] follows a set of namespaces that changes. A [Factory] shares
// informers among all who want the same, by leases.
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
// A controller works on keys: the handlers that [Enqueue], [EnqueueFunc] and
// [EnqueueOwner] make put them into a queue. [Filter] and [Select] keep from a
// handler, whichever it is, what it does not have to see. [Expectations] have a
// key wait until the informers have seen what was written when it was processed.
//
// Objects are shared by everybody who reads them or is told of them. They must
// not be modified; make a deep copy first.
package typed
