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

// keyTexts are keys as strings. They are made of blocks of memory, so that there
// are few allocations; who keeps one keeps the block.
type keyTexts struct {
	texts []string
	block strings.Builder
}

// keyBlock is the size of a block.
const keyBlock = 4096

func (k *keyTexts) add(key index.Key) {
	if key.Namespace == "" {
		k.texts = append(k.texts, key.Name) // as it is
		return
	}
	size := len(key.Namespace) + 1 + len(key.Name)
	if k.block.Cap()-k.block.Len() < size {
		k.block = strings.Builder{}
		k.block.Grow(max(size, min(keyBlock, size*(cap(k.texts)-len(k.texts)))))
	}
	start := k.block.Len()
	k.block.WriteString(key.Namespace)
	k.block.WriteByte('/')
	k.block.WriteString(key.Name)
	k.texts = append(k.texts, k.block.String()[start:])
}
