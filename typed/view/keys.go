package view

import (
	"errors"
	"slices"

	"github.com/kubetyped/informer/index"
)

// Keys says by which keys objects are found: by at most one, see [One], or by any number,
// see [Many]. The functions are pure: for the same object they return the same keys, see
// [WithChecks].
type Keys[K comparable, T index.Object] struct {
	one  func(T) (K, bool)
	many func(T) []K
}

// One is a key of each object, or none if the function returns false.
func One[K comparable, T index.Object](key func(obj T) (K, bool)) Keys[K, T] {
	return Keys[K, T]{one: key}
}

// Many is any number of keys of each object. A key that is there twice counts once.
func Many[K comparable, T index.Object](keys func(obj T) []K) Keys[K, T] {
	return Keys[K, T]{many: keys}
}

// Name is the key by which an object is stored: its namespace and name.
func Name[T index.Object]() Keys[index.Key, T] {
	return One(func(obj T) (index.Key, bool) { return index.KeyOf(obj), true })
}

// all calls f with each key of an object.
func (k Keys[K, T]) all(obj T, f func(K)) {
	if k.one != nil {
		if key, ok := k.one(obj); ok {
			f(key)
		}
		return
	}
	for _, key := range k.many(obj) {
		f(key)
	}
}

func (k Keys[K, T]) valid() bool { return k.one != nil || k.many != nil }

// checked returns keys whose functions are called twice, and panic if they return others.
func (k Keys[K, T]) checked() Keys[K, T] {
	if one := k.one; one != nil {
		k.one = func(obj T) (K, bool) {
			key, ok := one(obj)
			if again, there := one(obj); again != key || there != ok {
				panic(errImpureKeys)
			}
			return key, ok
		}
	}
	if many := k.many; many != nil {
		k.many = func(obj T) []K {
			keys := many(obj)
			if !slices.Equal(keys, many(obj)) {
				panic(errImpureKeys)
			}
			return keys
		}
	}
	return k
}

var errImpureKeys = errors.New("the key function returns different keys for the same object")
