package adapters

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// Get implements cache.Store. The error is a cache.KeyError.
func (x *indexer[T]) Get(obj any) (item any, exists bool, err error) {
	if object, err := x.typed(obj); err == nil {
		if x.scope != nil {
			return x.getInScope(index.KeyOf(object))
		}
		return x.found(x.store.Get(index.KeyOf(object)))
	}
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey implements cache.Store. It returns an error only if the informer follows a set of
// namespaces, and that of the key is not in it, or not listed yet.
func (x *indexer[T]) GetByKey(key string) (item any, exists bool, err error) {
	if x.scope != nil {
		return x.getInScope(keyOf(key))
	}
	if x.keyed != nil {
		return x.found(x.keyed.GetByKeyString(key))
	}
	return x.found(x.store.Get(keyOf(key)))
}

func (x *indexer[T]) found(obj T, exists bool) (item any, ok bool, err error) {
	if !exists {
		return nil, false, nil
	}
	if item, err = x.untyped(obj); err != nil {
		return nil, false, err
	}
	return item, true, nil
}

// List implements cache.Store. The slice is the caller's, and not nil.
func (x *indexer[T]) List() []any {
	list := make([]any, 0, x.store.Len())
	if x.writer == nil {
		for obj := range x.store.All() { // of an informer of one type
			list = append(list, x.plain(obj))
		}
		return list
	}
	for objs := range x.writer.Chunks() {
		list = x.appendUntyped(list, objs)
	}
	return list
}

// ListKeys implements cache.Store. The slice is the caller's, and not nil.
func (x *indexer[T]) ListKeys() []string {
	if x.writer != nil {
		return orEmpty(x.writer.KeyStrings())
	}
	keys := make([]string, 0, x.store.Len())
	for key := range x.store.Keys() {
		keys = append(keys, key.String())
	}
	return keys
}

// ByIndex implements cache.Indexer. It returns an error if there is no index of
// that name, and for namespaces as GetByKey.
func (x *indexer[T]) ByIndex(name, value string) ([]any, error) {
	idx, err := x.index(name)
	if err != nil {
		return nil, err
	}
	stay, err := x.scope.begin(name, value)
	if err != nil {
		return nil, err
	}
	n := idx.of.Len(value)
	if n == 0 {
		return []any{}, x.scope.end(name, value, stay)
	}
	found := make([]any, 0, n)
	for obj := range idx.of.All(value) {
		if !x.packs {
			found = append(found, x.plain(obj))
		} else if untyped, ok := x.known(obj); ok {
			found = append(found, untyped)
		}
	}
	return found, x.scope.end(name, value, stay)
}

// ByTypedIndex implements cache.TypedIndexer.
func (x *indexer[T]) ByTypedIndex(name, value string) ([]T, error) {
	idx, err := x.index(name)
	if err != nil {
		return nil, err
	}
	stay, err := x.scope.begin(name, value)
	if err != nil {
		return nil, err
	}
	found := orEmpty(idx.of.Get(value))
	return found, x.scope.end(name, value, stay)
}

// Index implements cache.Indexer. It returns an error if there is no index of
// that name, and that of its function for obj, which may be any object.
func (x *indexer[T]) Index(name string, obj any) ([]any, error) {
	idx, err := x.index(name)
	if err != nil {
		return nil, err
	}
	values, err := idx.keys(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return x.ByIndex(name, values[0])
	}
	found := []any{}
	for _, match := range x.union(idx, values) {
		if untyped, ok := x.known(match); ok {
			found = append(found, untyped)
		}
	}
	return found, nil
}

// TypedIndex implements cache.TypedIndexer.
func (x *indexer[T]) TypedIndex(name string, obj T) ([]T, error) {
	idx, err := x.index(name)
	if err != nil {
		return nil, err
	}
	untyped, err := x.untyped(obj)
	if err != nil {
		return nil, err
	}
	values, err := idx.keys(untyped)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return x.ByTypedIndex(name, values[0])
	}
	return orEmpty(x.union(idx, values)), nil
}

// union returns the objects that are filed under any of values, each once, all
// from the same state.
func (x *indexer[T]) union(idx namedIndex[T], values []string) []T {
	if len(values) == 0 {
		return nil
	}
	view := idx.of.In(x.store.Snapshot())
	seen := map[index.Key]struct{}{}
	var found []T
	for _, value := range values {
		for obj := range view.All(value) {
			key := index.KeyOf(obj)
			if _, ok := seen[key]; !ok {
				seen[key] = struct{}{}
				found = append(found, obj)
			}
		}
	}
	return found
}

// IndexKeys implements cache.Indexer. The keys are sorted.
func (x *indexer[T]) IndexKeys(name, value string) ([]string, error) {
	idx, err := x.index(name)
	if err != nil {
		return nil, err
	}
	stay, err := x.scope.begin(name, value)
	if err != nil {
		return nil, err
	}
	keys := idx.of.KeyStrings(value)
	slices.Sort(keys)
	return orEmpty(keys), x.scope.end(name, value, stay)
}

// ListIndexFuncValues implements cache.Indexer. It is empty if there is no index
// of that name.
func (x *indexer[T]) ListIndexFuncValues(name string) []string {
	idx, err := x.index(name)
	if err != nil {
		return []string{}
	}
	return orEmpty(idx.of.ListKeys())
}

// orEmpty returns list, or an empty one instead of nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
