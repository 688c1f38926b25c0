package index

import (
	"iter"
	"strings"
)

// GetByKeyString returns the object whose key is "namespace/name", or "name" if it
// has no namespace; false if there is none. Without WithKeyStrings it splits the string at
// the first slash.
func (x *Indexer[T]) GetByKeyString(key string) (T, bool) {
	if !x.keyStrings {
		return x.Get(splitKey(key))
	}
	hash := x.hasher.text(key)
	if obj, text, place, sure := x.optimistic.find(hash); sure && (place == 0 || text.string() == key) {
		return obj, place != 0
	}
	x.mu.RLock()
	if e := findString(&x.keys.tables, hash, key); e != nil {
		obj := e.object
		x.mu.RUnlock()
		return obj, true
	}
	released := x.released
	x.mu.RUnlock()
	if released { // for good
		checkFound(x, "Get", "", strings.Clone(key)) // it may be in a buffer
	}
	var none T
	return none, false
}

func splitKey(key string) Key {
	if slash := strings.IndexByte(key, '/'); slash > 0 {
		return Key{Namespace: key[:slash], Name: key[slash+1:]}
	}
	return Key{Name: key}
}

// KeyStrings returns the keys of all objects as GetByKeyString takes them, in no
// particular order, nil if there are none. The slice is the caller's.
func (x *Indexer[T]) KeyStrings() []string {
	slots, n := x.viewKeys("KeyStrings")
	return slots.listStrings(n)
}

// KeyStrings returns the keys of the objects filed under k, as strings that
// Indexer.GetByKeyString takes, in no particular order, nil if there are none. The
// slice is the caller's.
func (x *Index[K, T]) KeyStrings(k K) []string {
	owner := x.mustOwner("KeyStrings")
	hash := hashOf(x.posts.seed, k)
	filed := x.viewKeyStrings(owner, hash, k)
	if filed.n == 0 {
		return nil
	}
	list := make([]string, 0, filed.n)
	for i := range filed.count() {
		for _, pos := range filed.page(i) {
			hash := filed.hashes.at(pos)
			in := filed.slots.table(hash)
			list = append(list, in.entries[in.find(hash, pos+1)].text.string())
		}
	}
	return list
}

// filedKeys is what is needed to find the keys of the objects of a posting.
type filedKeys[T Object] struct {
	places
	slots  slots[T]
	hashes pages[uint32]
}

func (x *Index[K, T]) viewKeyStrings(owner *Indexer[T], hash uint32, k K) (filed filedKeys[T]) {
	owner.mu.RLock()
	defer owner.mu.RUnlock()
	x.mustBelongTo(owner, "KeyStrings")
	filed.places = x.posts.look(hash, k)
	if filed.n == 0 {
		checkFound(owner, "KeyStrings", x.name, k)
		return filed
	}
	owner.keysEpoch.share()
	filed.slots, filed.hashes = owner.slots(), owner.hashes.pages
	return filed
}

// Chunks ranges over all objects, in no particular order, many at a time and without
// copying them: for callers that fill a slice of another type. The slices are the
// indexer's own and must not be modified; all of them are of one consistent state. No
// lock is held while the loop body runs.
func (x *Indexer[T]) Chunks() iter.Seq[[]T] {
	return func(yield func([]T) bool) { chunks(x.view("Chunks"))(yield) }
}
