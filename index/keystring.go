package index

import (
	"hash/maphash"
	"iter"
	"strings"
)

// GetByKeyString returns the object whose key is "namespace/name", or "name" if it
// has no namespace; false if there is none. It is made for WithKeyStrings. Without
// that it splits the string at the first slash.
func (x *Indexer[T]) GetByKeyString(key string) (T, bool) {
	if !x.keyStrings {
		return x.Get(splitKey(key))
	}
	return x.getJoined(key)
}

// getJoined returns the object of a key that is given as a string.
func (x *Indexer[T]) getJoined(joined string) (T, bool) {
	hash := uint32(maphash.String(x.seed, joined) >> 32)
	x.mu.RLock()
	if e := findString(&x.keys.buckets, hash, joined); e != nil {
		obj := e.value.object
		x.mu.RUnlock()
		return obj, true
	}
	released := x.released
	x.mu.RUnlock()
	if released {
		checkFound(x, "Get", "", strings.Clone(joined)) // which may be in a buffer
	}
	var none T
	return none, false
}

func splitKey(key string) Key {
	namespace, name, found := strings.Cut(key, "/")
	if !found {
		return Key{Name: key}
	}
	return Key{Namespace: namespace, Name: name}
}

// KeyStrings ranges over the keys of all objects as GetByKeyString takes them, in no
// particular order and one consistent state. With WithKeyStrings it allocates
// nothing for a key.
func (x *Indexer[T]) KeyStrings() iter.Seq[string] {
	return func(yield func(string) bool) {
		slots, namespaces := x.viewKeyStrings()
		slots.keyStrings(&namespaces, yield)
	}
}

func (x *Indexer[T]) viewKeyStrings() (slots[T], pages[posting[string]]) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable("KeyStrings")
	x.keysEpoch.share()
	x.namespaces.posts.shape.share()
	return x.slots(), x.namespaces.posts.posts.pages
}

// Chunks ranges over all objects, in no particular order, many at a time and without
// copying them: for who fills a slice of another type. The slices are the indexer's
// own and must not be modified; all of them are of one consistent state. No lock is
// held while the loop body runs.
func (x *Indexer[T]) Chunks() iter.Seq[[]T] {
	return func(yield func([]T) bool) { x.view("Chunks").chunks()(yield) }
}
