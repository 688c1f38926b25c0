package index

import (
	"cmp"
	"fmt"
)

// IndexSize is the size of an index.
type IndexSize struct {
	// Name is that of the index.
	Name string
	// Keys is the number of keys under which there are objects, and Largest the number of
	// objects under the key that has most.
	Keys, Largest int
}

// IndexSizes returns the sizes of the indexes, in the order in which they were added. It
// looks at each key once.
func (s *Snapshot[T]) IndexSizes() []IndexSize {
	var sizes []IndexSize
	for i, handle := range s.handles {
		size := IndexSize{Name: handle.Name()}
		size.Keys, size.Largest = s.indexes[i].size()
		sizes = append(sizes, size)
	}
	return sizes
}

// IndexKeys returns, by the names of indexes, the keys under which they have the object
// of a key, in words. Indexes that do not have it are left out. The map is the caller's.
func (s *Snapshot[T]) IndexKeys(key Key) map[string][]string {
	e := s.slots.find(key)
	if e == nil {
		return nil
	}
	found := map[string][]string{}
	for i, handle := range s.handles {
		if keys := s.indexes[i].keysAt(e.place - 1); len(keys) > 0 {
			found[handle.Name()] = keys
		}
	}
	return found
}

// frozenPart is an index's part of a Snapshot, whatever the type of its keys.
type frozenPart interface {
	// size returns the number of keys, and of the objects under the largest.
	size() (keys, largest int)
	// keysAt returns the keys of the object at a position, in words.
	keysAt(pos uint32) []string
}

func (f *frozenIndex[K, T]) size() (keys, largest int) {
	for _, page := range f.posts.posts.table {
		for i := range page {
			n := 1
			switch p := &page[i]; p.list {
			case unused:
				continue
			case nil:
			default:
				n = int(p.list.n)
			}
			keys++
			largest = max(largest, n)
		}
	}
	return keys, largest
}

func (f *frozenIndex[K, T]) keysAt(pos uint32) (keys []string) {
	for m := range membersOf(&f.posts.first, &f.posts.rest, pos) {
		keys = append(keys, fmt.Sprint(f.posts.posts.ref(m.id).key))
	}
	return keys
}

func (f *frozenOrdered[K, T]) size() (keys, largest int) {
	run := 0
	var last *orderedEntry[K, T]
	f.tree.Ascend(func(e *orderedEntry[K, T]) bool {
		if last == nil || cmp.Compare(last.key, e.key) != 0 {
			keys++
			run = 0
		}
		run++
		largest, last = max(largest, run), e
		return true
	})
	return keys, largest
}

func (f *frozenOrdered[K, T]) keysAt(pos uint32) []string {
	if e := f.entries.at(pos); e != nil {
		return []string{fmt.Sprint(e.key)}
	}
	return nil
}
