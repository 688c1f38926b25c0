package adapters

import (
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// keyOf returns the key that a string stands for, of which index.Key.String
// makes the same string again: what is before the first slash is the namespace,
// unless that is nothing.
func keyOf(s string) index.Key {
	if i := strings.IndexByte(s, '/'); i > 0 {
		return index.Key{Namespace: s[:i], Name: s[i+1:]}
	}
	return index.Key{Name: s}
}

// keyOfAny returns the key of an object, a tombstone, or a cache.ExplicitKey.
// The error is a cache.KeyError.
func keyOfAny(obj any) (index.Key, error) {
	s, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return index.Key{}, cache.KeyError{Obj: obj, Err: err}
	}
	return keyOf(s), nil
}
