package shard

import "github.com/kubetyped/informer/index"

// isOutside returns what tells whether a key that is not in a list is of another range than
// those of the list, so that its object is not known to be gone. Where only the object tells,
// it is asked what the sink has of it; without that, it is taken for another member's.
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
