package shard

import (
	"maps"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// takeOver takes the ranges that were asked for from their owners, and returns the part's
// ranges that the list covers. It leaves out a range for which the other part is ahead: the
// sink has the objects in a later state, which is noted in reached, and this part skips changes
// until it has reached that. The other part may be ahead all the time, so there is no use in
// waiting for it. The caller holds lock.
func (q *part[T]) takeOver(version string) (own ranges) {
	var ahead ranges
	lowest := uint64(math.MaxUint64)
	for i, owner := range q.owner {
		r := uint8(i)
		if owner != nil && owner != q && q.asked.has(r) && !q.listed {
			if owner.listed {
				q.reached[r] = max(number(owner.version), owner.reached[r])
			}
			q.setOwner(r, q)
		}
		if q.owner[r] != q {
			continue
		}
		lowest = min(lowest, q.reached[r])
		if q.isBehind(r, version) {
			ahead.add(r)
		} else {
			own.add(r)
		}
	}
	if lowest != math.MaxUint64 {
		q.floor = lowest
	}
	if !ahead.empty() && !q.listed {
		for key, at := range maps.All(q.places) {
			if ahead.has(at.r) {
				q.setPlace(key, place[T]{q, at.version, at.object, at.r})
			}
		}
	}
	return own
}

// isBehind reports whether the sink has the objects of a range in a later state than a version.
func (q *part[T]) isBehind(r uint8, version string) bool {
	reached := q.reached[r]
	if reached == 0 {
		return false
	}
	n := number(version)
	return n != 0 && n < reached
}

// hasSince reports whether the sink had the state of an object in a version, or a later one,
// when this part took its range.
func (q *part[T]) hasSince(at place[T], version string) bool {
	reached := q.reached[at.r]
	if at.part != q || reached == 0 {
		return false
	}
	return q.isBehind(at.r, version) || at.version == reached && number(version) == reached
}

// sorted is what a list has, as it is to be passed on.
type sorted struct {
	acquired, relisted, rejected []source.Staged
	outside                      []index.Key         // objects that the sink has and leaves out from now on
	listed, stay                 sets.Set[index.Key] // stay: rejected objects
}

// sort sorts the items of a list, which covers ranges of the part, and notes their places. A sink
// leaves out items without their keys, so that those of a part have to be named. The caller holds
// lock.
func (q *part[T]) sort(items []source.Staged, version string, own ranges) (in sorted) {
	in.listed, in.stay = make(sets.Set[index.Key], len(items)), sets.New[index.Key]()
	for _, s := range items {
		obj, ok := s.(stagedObject)
		if _, is := source.Rejected(s); is {
			in.rejected = append(in.rejected, s)
			in.stay.Insert(s.Key())
		} else if _, is := source.Rejected(obj.Staged); is {
			in.stay.Insert(obj.key)
		}
		if !ok || !own.has(obj.r) {
			continue
		}
		was, known := q.places[obj.key]
		if known && was.version > number(version) && !own.has(was.r) {
			continue // an earlier object of this key
		}
		in.listed.Insert(obj.key)
		q.setPlace(obj.key, place[T]{q, number(version), obj.object, obj.r})
		switch {
		case known && obj.Staged.Key() == (index.Key{}) && !in.stay.Has(obj.key):
			in.outside = append(in.outside, obj.key)
		case !q.loaded.has(obj.r):
			in.acquired = append(in.acquired, obj.Staged)
		case q.listed || !known || was.object != obj.object || was.object == 0 || in.stay.Has(obj.key):
			in.relisted = append(in.relisted, obj.Staged)
		} // otherwise another part has reported it in this state
	}
	return in
}

// at returns the version that the sink has of the part's ranges: that of the part, or a later
// one if it has taken all of them from others that were ahead. The caller holds lock.
func (q *part[T]) at() string {
	if q.floor != 0 && number(q.version) < q.floor {
		return strconv.FormatUint(q.floor, 10)
	}
	return q.version
}

// missing returns the keys of objects in the part's ranges that are not in its list, though
// they are meant by it and were not rejected. The caller holds lock.
func (q *part[T]) missing(listed sets.Set[index.Key], version string, of func(index.Key) bool) (gone []index.Key) {
	for key, at := range maps.All(q.places) {
		if q.owner[at.r] != q || q.isBehind(at.r, version) || !of(key) || listed.Has(key) {
			continue
		}
		if q.rejected.Has(key) {
			q.setPlace(key, place[T]{q, at.version, at.object, at.r})
			continue
		}
		gone = append(gone, key)
		q.forgetPlace(key)
		q.mu.Lock()
		if q.worked {
			q.departed.add(key, at.r)
		}
		q.mu.Unlock()
	}
	return gone
}
