package index

import "iter"

// Diff ranges over the changes between two snapshots of an Indexer, as events without a
// reason, in no particular order: one event for each key whose object is in one of them
// only, or is another object in the second.
//
// It compares the pages, of a thousand objects each, that have changed in between;
// after a list that had none of the stored objects, those are all pages. Snapshots of
// two Indexers can be compared, too.
func Diff[T Object](before, after *Snapshot[T]) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		gone := make(map[Key]T)
		for obj := range notIn(&before.objects, &after.objects) {
			gone[KeyOf(obj)] = obj
		}
		// An object that has only moved to another place is in both, since a key is in a
		// snapshot once.
		for obj := range notIn(&after.objects, &before.objects) {
			key := KeyOf(obj)
			old, found := gone[key]
			delete(gone, key)
			switch {
			case !found:
				if !yield(Event[T]{Type: Added, New: obj}) {
					return
				}
			case !Same(old, obj):
				if !yield(Event[T]{Type: Updated, Old: old, New: obj}) {
					return
				}
			}
		}
		for _, obj := range gone {
			if !yield(Event[T]{Type: Deleted, Old: obj, New: obj}) {
				return
			}
		}
	}
}

// notIn ranges over the elements of a that b does not have at the same position.
func notIn[T Object](a, b *pages[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for p, page := range a.table {
			var other []T
			if p < len(b.table) {
				other = b.table[p]
			}
			if len(page) > 0 && len(other) > 0 && &page[0] == &other[0] {
				page = page[min(len(page), len(other)):] // the same memory
				other = nil
			}
			for i, obj := range page {
				if (i >= len(other) || !Same(other[i], obj)) && !yield(obj) {
					return
				}
			}
		}
	}
}
