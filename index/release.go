package index

import (
	"errors"
	"fmt"
	"reflect"
)

// ErrReleased means that a store was read after its release. [Reader].Err returns an error
// that wraps it, and other reads panic with one. Stop reading before the release.
var ErrReleased = errors.New("the store was released, and reads must end before that")

// Release frees all objects and their index keys, for good. Call it after the last read, if
// the program still refers to the indexer or to one of its indexes. It may be called any
// number of times, and during other calls.
//
// Afterwards:
//
//   - Reads of the indexer, and lookups in its indexes, panic with an error that wraps
//     ErrReleased: with the objects gone, "not found" would be wrong, and a controller may
//     delete what seems to have lost its owner. Err reports it before a read; ResourceVersion
//     still returns the last version.
//   - Writes store nothing: Apply, Replace and ReplaceNamespace return dst as it
//     is. AddIndexes returns an error that wraps ErrReleased. The indexes can be
//     added to another Indexer.
//   - Snapshots, views and loops that have begun before continue, with the objects that they
//     hold.
func (x *Indexer[T]) Release() {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.lock(true)
	defer x.unlock(true)
	if !x.released {
		x.released = true
		x.clear(0)
		x.indexes = nil // others may have them now
	}
}

// Err implements Reader.
func (x *Indexer[T]) Err() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.released {
		return ErrReleased
	}
	return nil
}

// Err returns nil: a snapshot stays readable.
func (s *Snapshot[T]) Err() error { return nil }

// checkReadable panics if the store was released; read is what was to be done. The
// caller holds mu, or has seen released. Reads of many objects call it first. A look-up of one
// key calls checkFound instead, and only if it found nothing, so finding an object costs nothing more.
func (x *Indexer[T]) checkReadable(read string) {
	if x.released {
		panic(releasedError[T](read))
	}
}

// checkFound panics like checkReadable; key is what was not found, in the index of
// that name, which is empty for the store itself.
func checkFound[T Object, K any](x *Indexer[T], read, index string, key K) {
	if !x.released {
		return
	}
	if index != "" {
		read = fmt.Sprintf("%s in index %q", read, index)
	}
	panic(releasedError[T](fmt.Sprintf("%s: key %v", read, key)))
}

func releasedError[T Object](read string) error {
	return fmt.Errorf("index: %s, objects of type %v: %w", read, reflect.TypeFor[T](), ErrReleased)
}
