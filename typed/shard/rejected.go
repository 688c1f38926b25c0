package shard

import (
	"maps"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// noteRejected notes that an object was rejected. Its range may not be known, so the part
// reports to the sink when the object is no longer rejected.
func (q *part[T]) noteRejected(key index.Key) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.rejected == nil {
		q.rejected = map[index.Key]struct{}{}
	}
	q.rejected[key] = struct{}{}
}

// repair takes back that an object was rejected, which has come, or is gone, unless another
// part has rejected it as well. The caller holds lock.
func (q *part[T]) repair(key index.Key) {
	if _, is := q.rejected[key]; !is {
		return
	}
	delete(q.rejected, key)
	for _, other := range q.running {
		if _, is := other.rejected[key]; is {
			return
		}
	}
	q.sink.Report(&source.RejectedError{Key: key})
}

// repairBut takes back what was rejected and is not in a list any more, of which of says
// that it would be. The caller holds lock.
func (q *part[T]) repairBut(stay map[index.Key]bool, of func(index.Key) bool) {
	for key := range maps.Clone(q.rejected) {
		if !stay[key] && of(key) {
			q.repair(key)
		}
	}
}
