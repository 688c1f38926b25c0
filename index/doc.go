// Package index keeps objects in memory and finds them: by key, by namespace,
// by label, and by whatever a program computes from them.
//
// An [Indexer] is the store. It is written to in batches ([Indexer.Apply], [Indexer.Replace]),
// each of which becomes visible at once, objects and indexes together, and returns the events
// that it caused. In an informer, its loop is the only writer; other code uses the read side,
// [Reader].
//
// An [Index] is both the definition of an index and the handle for lookups in it, typed by the
// key and by the object:
//
//	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) {
//		return p.Spec.NodeName, p.Spec.NodeName != ""
//	})
//	if err := pods.AddIndexes(byNode); err != nil { … }
//	for p := range byNode.All("node-7") { … }
//
// [Intersect] joins several indexes. [Reader.Snapshot] returns one consistent state,
// which can be read for as long as need be.
//
// # How it is built
//
// Objects stand at dense positions in pages of a thousand. A hash table has each key with its
// object in one entry, so that a lookup goes to one place. An index maps its keys to lists of
// positions, and each position to its places in those lists. So the cost of a write does not
// depend on the number of objects: it is a comparison for each index in which the object's
// keys have not changed, and a few steps for each key in the others. An [Ordered] index is a
// tree, which every write searches. All of these are made of pages that one writer changes in
// place. A reader takes the page table under the read lock and ranges over the pages without
// it; the writer copies a page before it writes to one that a reader may hold. So readers hold
// the lock for a moment, however much they read, and a snapshot costs nothing until something
// is written. Get of objects that are pointers or interfaces takes no lock, unless a write comes
// between: it reads the table of keys with atomic loads. A large write goes to a fork, which shares
// the pages that it does not change and then replaces the store, so that readers do not wait.
package index
