// Package semantic compares objects of any type as apimachinery does.
package semantic

import (
	"reflect"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
)

// Equal returns a function that reports whether two objects are equal: by apimachinery's
// equality.Semantic.DeepEqual, or by reflect.DeepEqual if they have fields that are not exported,
// at which the other one panics. Several goroutines may call it at once.
func Equal[T any]() func(a, b T) bool {
	var private atomic.Bool // the type has fields that only reflect.DeepEqual can compare
	semantic := func(a, b T) (same, ok bool) {
		defer func() { _ = recover() }() // what DeepEqual itself panics with, at a private field
		return equality.Semantic.DeepEqual(a, b), true
	}
	return func(a, b T) bool {
		if !private.Load() {
			if same, ok := semantic(a, b); ok {
				return same
			}
			private.Store(true)
		}
		return reflect.DeepEqual(a, b)
	}
}
