package adapters

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// errReadOnly is returned by writes to a store that only its informer may write.
var errReadOnly = errors.New("the store of this informer cannot be written: make the informer with typed.WithIndexer")

// Add implements cache.Store. It returns a cache.KeyError if obj has no key, another error if
// obj is not a T, and errReadOnly.
func (x *indexer[T]) Add(obj any) error { return x.Update(obj) }

// Update implements cache.Store. The errors are those of Add.
func (x *indexer[T]) Update(obj any) error { return x.write(obj, false) }

// Delete implements cache.Store. Of obj, which may be a tombstone, only the key and the
// resource version count. It returns a cache.KeyError if obj has no key, and errReadOnly.
func (x *indexer[T]) Delete(obj any) error { return x.write(obj, true) }

func (x *indexer[T]) write(obj any, deletion bool) (err error) {
	w, _ := x.scratch.Get().(*userWrite[T])
	if w == nil {
		w = &userWrite[T]{}
	}
	if w.changes, err = x.changes(w.changes[:0], obj, deletion); err != nil {
		return err
	}
	x.apply(obj, w)
	clear(w.changes)
	clear(w.events)
	x.scratch.Put(w)
	return nil
}

// Transaction implements cache.TransactionStore. Readers see all of it or nothing. An object
// without a key is left out, and the error reports it.
func (x *indexer[T]) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	var changes []index.Change[T]
	var last any
	result := &cache.TransactionError{TotalTransactions: len(txns), SuccessfulIndices: []int{}}
	for i, txn := range txns {
		more, err := x.changes(changes, txn.Object, txn.Type == cache.TransactionTypeDelete)
		if err != nil {
			result.Errors = append(result.Errors, err)
			continue
		}
		result.SuccessfulIndices = append(result.SuccessfulIndices, i)
		last = txn.Object
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete:
			changes = more
		}
	}
	if last != nil {
		x.apply(last, &userWrite[T]{changes: changes})
	}
	if len(result.Errors) == 0 {
		return nil
	}
	return result
}

// changes appends the change that stores or deletes obj. Deleting an obj that is not a T, such
// as a tombstone, deletes the object of its key.
func (x *indexer[T]) changes(dst []index.Change[T], obj any, deletion bool) ([]index.Change[T], error) {
	if x.writer == nil {
		return dst, x.readOnly
	}
	typed, err := x.typed(obj)
	if err == nil {
		return append(dst, index.Change[T]{Delete: deletion, Object: typed}), nil
	}
	key, keyErr := keyOfAny(obj)
	if !deletion || keyErr != nil {
		return dst, err
	}
	return append(dst, index.Change[T]{Delete: true, Key: &key}), nil
}

// apply makes changes. The version is then that of last, even if that is empty, unless last has
// no metadata.
func (x *indexer[T]) apply(last any, w *userWrite[T]) {
	version, known := "", false
	if accessor, err := meta.Accessor(last); err == nil {
		version, known = accessor.GetResourceVersion(), true
	}
	x.late.begin(w)
	defer x.late.end(w)
	w.events = x.writer.Apply(w.events[:0], w.changes, version)
	if !known {
		return
	}
	if version == "" {
		x.writer.SetResourceVersion("")
	}
	x.notify(version)
}

// Replace implements cache.Store. The errors are those of Add; then nothing was
// replaced. The slice is not kept.
func (x *indexer[T]) Replace(list []any, version string) error {
	objs := make([]T, 0, len(list))
	for _, obj := range list {
		typed, err := x.typed(obj)
		if err != nil {
			return err
		}
		objs = append(objs, typed)
	}
	if x.writer == nil {
		return x.readOnly
	}
	w := &userWrite[T]{list: objs}
	x.late.begin(w)
	defer x.late.end(w)
	x.writer.Replace(nil, objs, version, index.Relisted)
	x.notify(version)
	return nil
}

// Bookmark implements cache.Store.
func (x *indexer[T]) Bookmark(version string) {
	if x.writer == nil {
		return // the informer knows better
	}
	x.writer.SetResourceVersion(version)
	x.notify(version)
}

func (x *indexer[T]) notify(version string) {
	if x.changed != nil {
		x.changed(version)
	}
}
