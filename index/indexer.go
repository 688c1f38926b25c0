package index

import (
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
)

// Indexer is a store of objects, one for each Key, with any number of indexes
// over them.
//
// Objects and indexes change together: a reader sees all of a batch or nothing of it. A
// write returns the events that it caused, in order, each with the old and the new
// state of an object. Writes are safe for concurrent use and follow one another.
//
// The objects are kept as they are, not copied, and must not be modified. Keys and index keys
// are computed when an object is stored, and kept with it, so a modified object does not
// damage an index.
type Indexer[T Object] struct {
	options[T]

	writer sync.Mutex // held through a write; taken before mu
	batch  batch[T]   // guarded by writer

	optimistic optimistic[T] // reads of one key; written to with mu held

	uncompacted int // guarded by writer; changes since compact last ran

	mu           sync.RWMutex // guards all that follows; optimistic reads the tables of keys without it
	objects      vector[T]
	hashes       vector[uint32] // of the objects' keys, by position; for writers
	objectsEpoch epoch          // of objects
	keys         hashTable[T, keyText]
	keysEpoch    epoch             // of keys and hashes
	hasher       keyHasher         // of keys; never changed
	namespaces   *Index[string, T] // built in; by the keys, so it needs no staging
	indexes      []Definition[T]   // never changed in place
	version      string
	released     bool
	snapshot     *Snapshot[T] // of the current state; nil if none was taken
	snapshotting sync.Mutex   // guards snapshot among readers, who share mu
}

// NewIndexer returns an empty Indexer.
func NewIndexer[T Object](opts ...Option[T]) *Indexer[T] {
	x := &Indexer[T]{
		hasher:     newKeyHasher(),
		namespaces: newIndex[string, T]("namespace", nil),
	}
	x.optimistic.words = wordsOf[T]()
	x.keysEpoch.lockFree = x.optimistic.words > 0
	for _, opt := range opts {
		if opt != nil {
			opt(&x.options)
		}
	}
	x.namespaces.owner.Store(x)
	return x
}

// slots returns the read side of the keys. The caller holds mu, or writer.
func (x *Indexer[T]) slots() slots[T] { return slots[T]{x.keys.tables, x.hasher, x.keyStrings} }

// Get implements Reader.
func (x *Indexer[T]) Get(key Key) (T, bool) {
	if x.keyStrings {
		var buf keyBuffer
		return x.GetByKeyString(buf.join(key))
	}
	hash := x.hasher.key(key)
	if obj, text, place, sure := x.optimistic.find(hash); sure && (place == 0 || text.is(key)) {
		return obj, place != 0
	}
	x.mu.RLock()
	if e := findSlot(&x.keys.tables, hash, key); e != nil {
		obj := e.object
		x.mu.RUnlock()
		return obj, true
	}
	released := x.released
	x.mu.RUnlock()
	if released { // for good
		checkFound(x, "Get", "", key.clone())
	}
	var none T
	return none, false
}

// Len implements Reader.
func (x *Indexer[T]) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable("Len")
	return int(x.objects.n)
}

// view returns the objects, which then stay as they are, for a read.
func (x *Indexer[T]) view(read string) pages[T] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable(read)
	x.objectsEpoch.share()
	return x.objects.pages
}

// List implements Reader.
func (x *Indexer[T]) List() []T {
	objects := x.view("List")
	return objects.collect()
}

// All implements Reader.
func (x *Indexer[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { all(x.view("All"))(yield) }
}

// ListNamespace implements Reader.
func (x *Indexer[T]) ListNamespace(namespace string) []T { return x.namespaces.Get(namespace) }

// InNamespace implements Reader.
func (x *Indexer[T]) InNamespace(namespace string) iter.Seq[T] { return x.namespaces.All(namespace) }

// Keys implements Reader.
func (x *Indexer[T]) Keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		slots, _ := x.viewKeys("Keys")
		slots.keys()(yield)
	}
}

// viewKeys returns the n keys, for a read.
func (x *Indexer[T]) viewKeys(read string) (keys slots[T], n uint32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable(read)
	x.keysEpoch.share()
	return x.slots(), x.objects.n
}

// Candidates implements Reader.
func (x *Indexer[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return func(yield func(T) bool) {
		requirements, selectable := requirementsOf(selector) // without a lock: they may be the user's
		objects, sets := x.match("Candidates", func() []Term[T] {
			return candidateTerms(x.namespaces, x.indexes, namespace, requirements)
		})
		switch {
		case !selectable:
		case len(sets) == 0:
			all(objects)(yield)
		default:
			intersect(objects, sets, yield)
		}
	}
}

// match returns the objects of each term, in one state, for a read. The function that
// returns the terms is called with the lock held.
func (x *Indexer[T]) match(read string, terms func() []Term[T]) (pages[T], []set) {
	objects, finds := x.freeze(read, terms)
	sets := make([]set, len(finds))
	for i, find := range finds {
		sets[i] = find(objects.n)
	}
	return objects, sets
}

// freeze returns the objects, and how to find those of each term.
func (x *Indexer[T]) freeze(read string, terms func() []Term[T]) (pages[T], []func(uint32) set) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable(read)
	x.objectsEpoch.share()
	all := terms()
	finds := make([]func(uint32) set, len(all))
	for i, term := range all {
		finds[i] = term.live(x, read)
	}
	return x.objects.pages, finds
}

// ResourceVersion implements Reader.
func (x *Indexer[T]) ResourceVersion() string {
	x.mu.RLock()
	version := x.version
	x.mu.RUnlock()
	return version
}

// Snapshot implements Reader. Without a write in between it returns the same
// snapshot again.
func (x *Indexer[T]) Snapshot() *Snapshot[T] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.snapshotting.Lock()
	defer x.snapshotting.Unlock()
	if x.snapshot == nil {
		x.checkReadable("Snapshot")
		x.objectsEpoch.share()
		x.keysEpoch.share()
		s := &Snapshot[T]{
			slots:   x.slots(),
			objects: x.objects.pages,
			indexes: make([]frozenPart, len(x.indexes)),
			handles: x.indexes,
			version: x.version,

			namespaces: x.namespaces,
		}
		for i, index := range x.indexes {
			s.indexes[i] = index.freeze()
		}
		s.indexes = append(s.indexes, x.namespaces.freeze())
		x.snapshot = s
	}
	return x.snapshot
}
