package index

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
)

// Definition is an *Index or *Ordered over objects of type T, whatever the type of its
// keys. No other type implements it.
type Definition[T Object] interface {
	// Name returns the name that the index was made with.
	Name() string

	// attach claims the index for an indexer, and fails if it cannot be used.
	attach(to *Indexer[T]) error
	// belongsTo reports whether the indexer has claimed the index.
	belongsTo(*Indexer[T]) bool
	// detach gives up a claim, and forgets the objects. Called under the write lock if
	// the index was published.
	detach()
	// publish opens the index for look-ups. Called under the write lock.
	publish(owner *Indexer[T])

	// stage computes the keys of the next object of a batch. It runs user code,
	// so it is called without the write lock.
	stage(obj T)
	// unstage forgets what was staged, and keeps memory for keep elements at most.
	unstage(keep int)

	// The rest is called under the write lock; begin comes first.
	begin()
	add()
	assign(pos uint32, staged int)
	remove(pos uint32)
	// reset forgets all objects, and makes room for n others.
	reset(n int)

	// fork returns an index with the same contents and no readers; adopt takes its
	// contents over if this index was not written to meanwhile. compacted returns a fork
	// that takes less memory, nil if it is not worth it. Only adopt needs the lock.
	fork() Definition[T]
	compacted() Definition[T]
	adopt(fork Definition[T])
	// moved returns how many elements were moved, see epoch.
	moved() uint64

	// freeze returns a view of the index, and freezes its current state.
	freeze() frozenPart
	// labelTerm returns the term that stands for a selector's requirement, if
	// this is an index of such labels.
	labelTerm(labels.Requirement) (Term[T], bool)
}

func (x *Index[K, T]) attach(to *Indexer[T]) error {
	if x == nil {
		return errNilIndex
	}
	if keyType := reflect.TypeFor[K](); !hashable(keyType) {
		return fmt.Errorf("index: index %q has keys of type %v, which contains an interface: two such keys may not be comparable", x.name, keyType)
	}
	return x.claimFor(to, x.keys != nil, "New or Single")
}

func (x *Index[K, T]) belongsTo(owner *Indexer[T]) bool { return x != nil && x.claim.Load() == owner }

func (x *Index[K, T]) detach() {
	x.reset(0)
	x.attachment.detach()
}

// hashable reports whether every value of the comparable type t has a hash:
// the compiler lets interfaces pass, which may hold a slice.
func hashable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Array:
		return hashable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !hashable(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

func (x *Index[K, T]) stage(obj T) {
	x.staged = x.keys(x.staged, obj)
	x.ends = append(x.ends, len(x.staged))
}

// maxScratch is the number of elements up to which memory for a batch of changes is kept for
// the next one. The memory for a list is not kept, as lists are rare.
const maxScratch = 16384

func (x *Index[K, T]) unstage(keep int) {
	x.staged = reuse(x.staged, keep)
	x.ends = reuse(x.ends, keep)
}

// reuse returns s emptied, or nil if it has room for more than keep elements.
func reuse[E any](s []E, keep int) []E {
	if cap(s) > keep {
		return nil
	}
	clear(s)
	return s[:0]
}

func (x *Index[K, T]) begin() { x.posts.begin() }

func (x *Index[K, T]) add() { x.posts.add() }

func (x *Index[K, T]) assign(pos uint32, staged int) {
	start := 0
	if staged > 0 {
		start = x.ends[staged-1]
	}
	x.posts.assign(pos, x.staged[start:x.ends[staged]])
}

func (x *Index[K, T]) remove(pos uint32) { x.posts.remove(pos) }

func (x *Index[K, T]) reset(n int) { x.posts.reset(n) }

func (x *Index[K, T]) fork() Definition[T] { return x.with(x.posts.fork()) }

func (x *Index[K, T]) with(posts *postings[K]) *Index[K, T] {
	return &Index[K, T]{attachment: attachment[T]{name: x.name}, keys: x.keys, posts: posts}
}

func (x *Index[K, T]) compacted() Definition[T] {
	if !x.posts.sparse() {
		return nil
	}
	return x.with(x.posts.compacted())
}

func (x *Index[K, T]) adopt(fork Definition[T]) { x.posts.adopt(fork.(*Index[K, T]).posts) }

func (x *Index[K, T]) moved() uint64 { return x.posts.lists.moved + x.posts.shape.moved }

// frozenIndex is an index's part of a Snapshot.
type frozenIndex[K comparable, T Object] struct {
	index *Index[K, T]
	posts postingsView[K]
}

func (x *Index[K, T]) freeze() frozenPart {
	x.posts.lists.share()
	x.posts.shape.share()
	return &frozenIndex[K, T]{index: x, posts: x.posts.view()}
}
