package typed

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// rejections are the objects of which the store does not have the state that was
// received last, since that was rejected. While there is none, looking for one
// costs a look at a counter.
//
// There are several who reject: the sink, with the source before it, and the loop,
// which applies later what the sink has let pass. Each takes back only what it
// rejected itself: what the sink lets pass now says nothing about what the loop
// has failed on meanwhile, and the other way round. What stands by itself, only who has
// said so takes back.
type rejections struct {
	now atomic.Int64 // the length of latest

	mu     sync.Mutex
	byKey  map[index.Key]*list.Element // guarded by mu; of latest
	most   int                         // guarded by mu; that byKey has held, for container.ShrinkMap
	latest list.List                   // guarded by mu; of *rejection, the latest first
	total  int                         // guarded by mu
	last   *source.RejectedError       // guarded by mu
}

// rejection is one object of rejections.
type rejection struct {
	key index.Key
	by  [rejecters]*source.RejectedError // by who has rejected it
	err *source.RejectedError            // the latest of these
}

// rejecter is the part of the informer that has rejected an object.
type rejecter uint8

const (
	bySink rejecter = iota
	byLoop
	standing // see source.RejectedError
	rejecters
)

// maxReported is how many rejected objects Status reports.
const maxReported = 20

// note notes that an object was rejected. The sink comes first, and so knows the
// later state.
func (r *rejections) note(err *source.RejectedError, by rejecter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	r.last = err
	at := r.byKey[err.Key]
	switch {
	case at == nil:
		if r.byKey == nil {
			r.byKey = map[index.Key]*list.Element{}
		}
		at = r.latest.PushFront(&rejection{key: err.Key})
		r.byKey[err.Key] = at
		r.now.Add(1)
	case by == byLoop && at.Value.(*rejection).by[bySink] != nil:
		return
	}
	one := at.Value.(*rejection)
	if by == bySink {
		one.by[byLoop] = nil
	}
	one.by[by], one.err = err, err
	r.latest.MoveToFront(at)
}

// take takes back the rejection of an object by one rejecter. The caller holds mu.
func (r *rejections) take(at *list.Element, by rejecter) {
	one := at.Value.(*rejection)
	one.by[by], one.err = nil, nil
	for _, err := range one.by {
		if err != nil {
			one.err = err
			return
		}
	}
	delete(r.byKey, one.key)
	r.latest.Remove(at)
	r.byKey = container.ShrinkMap(r.byKey, &r.most)
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
	if at := r.byKey[key]; at != nil && at.Value.(*rejection).by[by] != nil {
		r.take(at, by)
	}
}

// repairAll forgets the objects that were rejected in a namespace, or everywhere if that is
// "", but those of a complete list that were.
func (r *rejections) repairAll(namespace string, by rejecter, but []index.Key) {
	if !r.some() {
		return
	}
	stay := make(map[index.Key]bool, len(but))
	for _, key := range but {
		stay[key] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := r.latest.Front(); at != nil; {
		next, one := at.Next(), at.Value.(*rejection)
		if one.by[by] != nil && isWithin(one.key, namespace) && !stay[one.key] {
			r.take(at, by)
		}
		at = next
	}
}

// isWithin reports whether a key is in a namespace, "" for all.
func isWithin(key index.Key, namespace string) bool {
	return namespace == "" || key.Namespace == namespace
}

// leave forgets the objects that were rejected before they came to the store in a namespace, or
// everywhere if that is "": there will be no more reports on them.
func (r *rejections) leave(namespace string) {
	r.repairAll(namespace, bySink, nil)
	r.repairAll(namespace, standing, nil)
}

// fill copies what is known into s.
func (r *rejections) fill(s *report.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Rejected, s.LastRejected = r.total, r.last
	s.RejectedNow = r.latest.Len()
	for at := r.latest.Front(); at != nil && len(s.RejectedObjects) < maxReported; at = at.Next() {
		s.RejectedObjects = append(s.RejectedObjects, at.Value.(*rejection).err)
	}
}
