package typed

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/shrink"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// rejections are the objects of which the store does not have the state that was
// received last, since that was rejected. While there is none, looking for one
// costs a look at a counter.
//
// There are two who reject: the sink, with the source before it, and the loop,
// which applies later what the sink has let pass. Each takes back only what it
// rejected itself: what the sink lets pass now says nothing about what the loop
// has failed on meanwhile, and the other way round.
type rejections struct {
	now atomic.Int64 // the length of latest

	mu     sync.Mutex
	byKey  map[index.Key]*list.Element // guarded by mu; of latest
	most   int                         // guarded by mu; that byKey has held, for shrink.Map
	latest list.List                   // guarded by mu; of *rejection, the latest first
	listed bool                        // guarded by mu; there was a list
	total  int                         // guarded by mu
	last   *source.RejectedError       // guarded by mu
}

// rejection is one object of rejections.
type rejection struct {
	err  *source.RejectedError
	by   rejecter
	kept bool // it came in a list that is not complete yet
}

// rejecter tells who has rejected an object.
type rejecter uint8

const (
	bySink rejecter = iota + 1
	byLoop
)

// maxReported is how many rejected objects Status tells of.
const maxReported = 20

// note notes that an object was rejected. The sink comes first, and so knows the
// later state.
func (r *rejections) note(err *source.RejectedError, by rejecter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	r.last = err
	if at := r.byKey[err.Key]; at != nil {
		if by == byLoop && at.Value.(*rejection).by == bySink {
			return
		}
		r.remove(at)
	}
	if r.byKey == nil {
		r.byKey = map[index.Key]*list.Element{}
	}
	r.byKey[err.Key] = r.latest.PushFront(&rejection{err: err, by: by, kept: err.Listed || by == bySink && !r.listed})
	r.now.Add(1)
}

// remove forgets an object. The caller holds mu.
func (r *rejections) remove(at *list.Element) {
	delete(r.byKey, r.latest.Remove(at).(*rejection).err.Key)
	r.byKey = shrink.Map(r.byKey, &r.most)
	r.now.Add(-1)
}

// some reports whether there are any.
func (r *rejections) some() bool { return r.now.Load() > 0 }

// of returns what was wrong with the object of key, nil if nothing was.
func (r *rejections) of(key index.Key) *source.RejectedError {
	if !r.some() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.byKey[key]; at != nil {
		return at.Value.(*rejection).err
	}
	return nil
}

// lastOne returns what was rejected last.
func (r *rejections) lastOne() *source.RejectedError {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// repair forgets that an object was rejected, as a later state of it was not, or
// it is gone.
func (r *rejections) repair(key index.Key, by rejecter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.byKey[key]; at != nil && at.Value.(*rejection).by == by {
		r.remove(at)
	}
}

// repairAll forgets the objects that were rejected in a namespace, or everywhere
// if that is nil, but those of the list that is complete now, whose keys it
// returns.
func (r *rejections) repairAll(namespace *string, by rejecter) (kept []queue.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by == bySink && namespace == nil {
		r.listed = true
	}
	for at := r.latest.Front(); at != nil; {
		next, one := at.Next(), at.Value.(*rejection)
		switch {
		case one.by != by || namespace != nil && one.err.Key.Namespace != *namespace:
		case one.kept:
			one.kept = false
			kept = append(kept, queue.ObjectName(one.err.Key))
		default:
			r.remove(at)
		}
		at = next
	}
	return kept
}

// leave forgets the objects that the sink has rejected in a namespace, or everywhere if that
// is "", also those of a list that is under way: nobody will report on them any more.
func (r *rejections) leave(namespace string) {
	within := &namespace
	if namespace == "" {
		within = nil
	}
	r.repairAll(within, bySink) // leaves those of a list, as if that were complete
	r.repairAll(within, bySink)
}

// fill copies what is known into s.
func (r *rejections) fill(s *Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Rejected, s.LastRejected = r.total, r.last
	s.RejectedNow = r.latest.Len()
	for at := r.latest.Front(); at != nil && len(s.RejectedObjects) < maxReported; at = at.Next() {
		s.RejectedObjects = append(s.RejectedObjects, at.Value.(*rejection).err)
	}
}
