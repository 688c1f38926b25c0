package shard

import "github.com/kubetyped/informer/index"

// isOutside returns a function that reports whether a key that is missing in a list is outside
// of the list's ranges, so that its object may still exist. Where the range does not follow
// from the key, it follows from the object that the sink has; without that, the key is taken
// for another member's.
func (q *part[T]) isOutside(own ranges) func(key index.Key) bool {
	held := q.sink.Decoding().Held
	return func(key index.Key) bool {
		if r, ok := q.rangeOfKey(key); ok {
			return !own.has(r)
		}
		if held == nil {
			return true
		}
		obj, ok := held(key)
		if !ok {
			return true
		}
		r, err := q.rangeOf(obj)
		return err != nil || !own.has(r)
	}
}
