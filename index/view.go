package index

import "iter"

// View is an Index as it was when a Snapshot was taken. It has its look-ups Get, All, One, Has,
// Len and Keys, which take no lock. The zero View is empty.
type View[K comparable, T Object] struct {
	objects pages[T]
	posts   postingsView[K]
}

// Get returns the objects filed under k, in no particular order, nil if there
// are none. The slice is the caller's.
func (v View[K, T]) Get(k K) []T { return collectAt(v.objects, v.look(k)) }

// All ranges over the objects filed under k, in no particular order.
func (v View[K, T]) All(k K) iter.Seq[T] {
	return func(yield func(T) bool) {
		found := v.look(k)
		for i := range found.count() {
			for _, pos := range found.page(i) {
				if !yield(v.objects.at(pos)) {
					return
				}
			}
		}
	}
}

// One returns an object that is filed under k, and how many there are.
func (v View[K, T]) One(k K) (obj T, n int) { return oneAt(v.objects, v.look(k)) }

// Has reports whether an object is filed under k.
func (v View[K, T]) Has(k K) bool { return v.Len(k) > 0 }

// Len returns how many objects are filed under k.
func (v View[K, T]) Len(k K) int {
	found := v.look(k)
	return int(found.n)
}

// Keys ranges over the keys under which there is at least one object, in no
// particular order.
func (v View[K, T]) Keys() iter.Seq[K] { return allKeys(v.posts.posts) }

func (v View[K, T]) look(k K) places {
	if len(v.posts.keys.list) == 0 {
		return places{}
	}
	id := v.posts.find(k)
	if id == 0 {
		return places{}
	}
	return placesOf(v.posts.posts.ref(id))
}
