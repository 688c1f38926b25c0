package index

import (
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
)

// Indexer is a store of objects, one for each Key, with any number of indexes
// over them.
//
// Objects and indexes change together: a reader sees all of a batch or nothing
// of it. The result of a write is the list of events that tells what it did,
// old and new state of each object, in order. Writes are safe for concurrent
// use and follow one another.
//
// The objects are kept as they are, not copied, and must not be modified. Keys
// and index keys are computed when an object is stored and kept beside it, so
// an object that was modified in spite of that cannot damage an index.
type Indexer[T Object] struct {
	options[T]

	writer  sync.Mutex // held through a write; taken before mu
	located []located  // guarded by writer; where the objects of a write belong
	names   []string   // guarded by writer; copies of the names of those that are new
	hashes  []uint32   // guarded by writer; of the objects' keys, by position

	mu           sync.RWMutex // guards all that follows
	seed         maphash.Seed
	objects      vector[T]
	objectsEpoch epoch
	slots        slots[T]          // the same objects, by their keys
	keysEpoch    epoch             // of slots
	namespaces   *Index[string, T] // built in; by the keys, so it needs no staging
	indexes      []Handle[T]       // never changed in place
	version      string
	released     bool
	snapshot     *Snapshot[T] // of the current state; nil if none was taken
	snapshotting sync.Mutex   // guards snapshot among readers, who share mu
}

// Option sets up an Indexer. The functions that options take may be called
// while readers wait: they must be quick and must not call the indexer.
type Option[T Object] func(*options[T])

type options[T Object] struct {
	recreated func(old, updated T) bool
	unchanged func(old, updated T) bool

	literal bool
}

// WithRecreated makes a write that replaces old by updated give two events if
// recreated reports true for the two, a deletion and an addition, both with
// the reason Recreated. Without it, and for all other objects, it is one
// update.
func WithRecreated[T Object](recreated func(old, updated T) bool) Option[T] {
	return func(o *options[T]) { o.recreated = recreated }
}

// WithUnchanged makes Replace keep the object that is there, and give no event
// for it, if unchanged reports true for it and the one in the list.
func WithUnchanged[T Object](unchanged func(old, updated T) bool) Option[T] {
	return func(o *options[T]) { o.unchanged = unchanged }
}

// WithLiteralEvents makes events say what the writer has said even where that
// makes no sense, as client-go's do:
//
//   - Apply gives an event for a deletion of an object that is not there, too;
//     Old is then the zero T. Otherwise, and for a Change with a Key, it gives
//     none.
//   - Replace compares each object of a list that has a key twice with the state
//     before the list. Otherwise the second one is an update of the first.
func WithLiteralEvents[T Object]() Option[T] {
	return func(o *options[T]) { o.literal = true }
}

// NewIndexer returns an empty Indexer.
func NewIndexer[T Object](opts ...Option[T]) *Indexer[T] {
	x := &Indexer[T]{
		seed:       maphash.MakeSeed(),
		namespaces: &Index[string, T]{name: "namespace", posts: newPostings[string]()},
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&x.options)
		}
	}
	x.namespaces.owner.Store(x)
	return x
}

// AddIndexes adds indexes and fills them with the objects that are there.
// Readers go on meanwhile; look-ups begin to find objects, all of them at
// once, before AddIndexes returns. If it returns an error, none of the indexes
// has been added: a nil index, one without a name or function, one with keys
// that may have no hash, one whose name is taken, one that was added before
// (ErrIndexInUse), or any if the store was released (ErrReleased).
func (x *Indexer[T]) AddIndexes(indexes ...Handle[T]) (err error) {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return fmt.Errorf("index: indexes are not added to a store of %v: %w", reflect.TypeFor[T](), ErrReleased)
	}

	claimed := 0
	published := false
	defer func() {
		if !published { // an error, or a panic in an index function
			for _, index := range indexes[:claimed] {
				index.unstage(0)
				index.reset()
				index.detach()
			}
		}
	}()
	for _, index := range indexes {
		if index == nil {
			return errors.New("index: a nil index was added")
		}
		if err := index.attach(x); err != nil {
			return err
		}
		claimed++
		sameName := func(other Handle[T]) bool { return other.Name() == index.Name() }
		if slices.ContainsFunc(x.indexes, sameName) || slices.ContainsFunc(indexes[:claimed-1], sameName) {
			return fmt.Errorf("index: there is an index named %q already", index.Name())
		}
	}
	for _, index := range indexes {
		index.begin()
		for obj := range x.objects.all() {
			index.stage(obj)
		}
		for pos := range x.objects.n {
			index.add()
			index.assign(pos, int(pos))
		}
		index.unstage(0)
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.indexes = slices.Concat(x.indexes, indexes)
	x.snapshot = nil
	for _, index := range indexes {
		index.publish(x)
	}
	published = true
	return nil
}

// Get implements Reader.
func (x *Indexer[T]) Get(key Key) (T, bool) {
	hash := hashKey(x.seed, key)
	x.mu.RLock()
	if s := findSlot(&x.slots.pages, &x.namespaces.posts.byID.pages, hash, key); s != nil {
		obj := s.object
		x.mu.RUnlock()
		return obj, true
	}
	defer x.mu.RUnlock()
	checkFound(x, "Get", "", key)
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
	return func(yield func(T) bool) { x.view("All").all()(yield) }
}

// ListNamespace implements Reader.
func (x *Indexer[T]) ListNamespace(namespace string) []T { return x.namespaces.Get(namespace) }

// Namespace implements Reader.
func (x *Indexer[T]) Namespace(namespace string) iter.Seq[T] { return x.namespaces.All(namespace) }

// Keys implements Reader.
func (x *Indexer[T]) Keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		x.viewKeys()(yield)
	}
}

func (x *Indexer[T]) viewKeys() iter.Seq[Key] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable("Keys")
	x.keysEpoch.share()
	x.namespaces.posts.shape.share()
	return keysOf(x.slots.pages, x.namespaces.posts.byID.pages)
}

// Candidates implements Reader.
func (x *Indexer[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return func(yield func(T) bool) {
		terms, possible := candidateTerms(x.namespaces, x.handles("Candidates"), namespace, selector)
		switch {
		case !possible:
		case len(terms) == 0:
			x.view("Candidates").all()(yield)
		default:
			objects, sets := x.match("Candidates", terms)
			intersect(objects, sets, yield)
		}
	}
}

// handles returns the indexes, which nobody changes, for a read.
func (x *Indexer[T]) handles(read string) []Handle[T] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable(read)
	return x.indexes
}

// match returns the objects of each term, in one state, for a read.
func (x *Indexer[T]) match(read string, terms []Term[T]) (pages[T], []matches) {
	sets := make([]matches, len(terms))
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable(read)
	x.objectsEpoch.share()
	for i, term := range terms {
		sets[i] = term.live()
	}
	return x.objects.pages, sets
}

// ResourceVersion implements Reader.
func (x *Indexer[T]) ResourceVersion() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.version
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
			seed:    x.seed,
			slots:   x.slots.pages,
			objects: x.objects.pages,
			indexes: make([]any, len(x.indexes)),
			handles: x.indexes,
			version: x.version,
		}
		for i, index := range x.indexes {
			s.indexes[i] = index.freeze()
		}
		s.indexes = append(s.indexes, x.namespaces.freeze())
		s.namespaces, s.byNamespace = x.namespaces, x.namespaces.posts.view()
		x.snapshot = s
	}
	return x.snapshot
}
