package view

import (
	"errors"
	"slices"

	"github.com/kubetyped/informer/index"
)

// Keys says by which keys objects are found: by at most one, see [One], or by any number,
// see [Many]. The functions are pure: for the same object they return the same keys, see
// [WithChecks].
type Keys[T index.Object, K comparable] struct {
	one  func(T) (K, bool)
	many func(T) []K
}

// One is a key of each object, or none if the function returns false.
func One[T index.Object, K comparable](key func(obj T) (K, bool)) Keys[T, K] {
	return Keys[T, K]{one: key}
}

// Many is any number of keys of each object. A key that is there twice counts once.
func Many[T index.Object, K comparable](keys func(obj T) []K) Keys[T, K] {
	return Keys[T, K]{many: keys}
}

// Name is the key by which an object is stored: its namespace and name.
func Name[T index.Object]() Keys[T, index.Key] {
	return One(func(obj T) (index.Key, bool) { return index.KeyOf(obj), true })
}

// all calls f with each key of an object.
func (k Keys[T, K]) all(obj T, f func(K)) {
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

func (k Keys[T, K]) valid() bool { return k.one != nil || k.many != nil }

// checked returns keys whose functions are called twice, and panic if they return others.
func (k Keys[T, K]) checked() Keys[T, K] {
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
