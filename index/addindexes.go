package index

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// ErrNameTaken is returned by AddIndexes for an index whose name another index of the
// Indexer has. See [Ensure].
var ErrNameTaken = errors.New("name is taken by another index")

// AddIndexes adds indexes and fills them with the objects that are there. It does not block
// readers. Lookups find all objects at once, before AddIndexes returns. An index that x
// already has stays as it is.
//
// If it returns an error, none of the indexes has been added: a nil index, one without
// a name or function, one with keys that may have no hash, one whose name is taken
// (ErrNameTaken), one that was added to another Indexer (ErrIndexInUse), or any if the
// store was released (ErrReleased).
func (x *Indexer[T]) AddIndexes(indexes ...Definition[T]) (err error) {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return fmt.Errorf("index: indexes are not added to a store of %v: %w", reflect.TypeFor[T](), ErrReleased)
	}
	var claimed []Definition[T]
	published := false
	defer func() {
		if !published { // an error, or a panic in an index function
			for _, index := range claimed {
				index.unstage(0)
				index.detach()
			}
		}
	}()
	for _, index := range indexes {
		if index == nil {
			return errNilIndex
		}
		if index.belongsTo(x) {
			continue
		}
		if err := index.attach(x); err != nil {
			return err
		}
		claimed = append(claimed, index)
		sameName := func(other Definition[T]) bool { return other.Name() == index.Name() }
		if slices.ContainsFunc(x.indexes, sameName) || slices.ContainsFunc(claimed[:len(claimed)-1], sameName) {
			return fmt.Errorf("index %q: %w", index.Name(), ErrNameTaken)
		}
	}
	x.fillIndexes(claimed)

	x.mu.Lock()
	defer x.mu.Unlock()
	x.indexes = slices.Concat(x.indexes, claimed)
	x.snapshot = nil
	for _, index := range claimed {
		index.publish(x)
	}
	published = true
	return nil
}

// fillIndexes files the objects in indexes that have no readers yet. The caller holds writer.
func (x *Indexer[T]) fillIndexes(indexes []Definition[T]) {
	for _, index := range indexes {
		index.begin()
		index.reset(int(x.objects.n))
		for obj := range all(x.objects.pages) {
			index.stage(obj)
		}
		for pos := range x.objects.n {
			index.add()
			index.assign(pos, int(pos))
		}
		index.unstage(0)
	}
}

// Indexes returns the indexes that were added and not removed, in the order in which
// they came. The slice is the caller's.
func (x *Indexer[T]) Indexes() []Definition[T] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.checkReadable("Indexes")
	return slices.Clone(x.indexes)
}

// RemoveIndexes removes indexes, and frees their memory. Later lookups in them panic, see
// [Index]; running ones and snapshots continue. An index that x does not have is ignored.
func (x *Indexer[T]) RemoveIndexes(indexes ...Definition[T]) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.snapshot = nil
	x.indexes = slices.DeleteFunc(slices.Clone(x.indexes), func(index Definition[T]) bool {
		removed := slices.Contains(indexes, index)
		if removed {
			index.detach()
		}
		return removed
	})
}

// IndexAdder is what indexes are added to: an *Indexer, or an informer.
type IndexAdder[T Object] interface {
	AddIndexes(indexes ...Definition[T]) error
	Indexes() []Definition[T]
}

// Ensure adds x and returns it, or returns an index of the same definition that was
// added before. So several users of an informer can share an index without knowing of
// each other. Indexes by Labels have the same definition if they are for the same
// labels. Of other indexes it cannot be known: if there is one of the same name, the
// error wraps ErrNameTaken. All errors are those of AddIndexes.
func Ensure[K comparable, T Object](to IndexAdder[T], x *Index[K, T]) (*Index[K, T], error) {
	err := to.AddIndexes(x)
	switch {
	case err == nil:
		return x, nil
	case !errors.Is(err, ErrNameTaken):
		return nil, err
	}
	for _, other := range to.Indexes() {
		if same, ok := other.(*Index[K, T]); ok && len(x.labels) > 0 && slices.Equal(x.labels, same.labels) {
			return same, nil
		}
	}
	return nil, err
}
