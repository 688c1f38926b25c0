package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// part is the Sink of one list and watch.
type part[T index.Object] struct {
	*parts[T]
	asked  ranges // never changed
	ctx    context.Context
	cancel context.CancelFunc

	// Guarded by lock of parts.
	listed, removed, finished bool
	version                   string
	reached                   [rangeCount]uint64 // see takeOver
	floor                     uint64             // the lowest of reached, of its own ranges
	err                       error
	rejected                  map[index.Key]struct{} // of the list that is under way
}

// run lists and watches until the part is not needed any more.
func (q *part[T]) run() error {
	defer q.cancel()
	src := q.open()
	if src == nil {
		return errors.New("the source to share is nil")
	}
	if sharder, ok := src.(source.Sharder[T]); ok && q.field != "" {
		q.asks.Store(true)
		src = sharder.InShards(q.asked.selector(q.field))
	}
	err := src.Run(q.ctx, q)
	if q.ctx.Err() != nil {
		return nil // it was told to stop
	}
	q.lock.Lock()
	defer q.lock.Unlock()
	q.finished = true
	return err
}

// find returns the range of an object that was received, and whether that was asked for.
func (q *part[T]) find(obj T, version string, listed bool) (r uint8, asked, ok bool) {
	var none T
	if obj == none {
		q.sink.Report(&source.RejectedError{ResourceVersion: version, Listed: listed, Err: source.ErrNilObject})
		return 0, false, false
	}
	q.received.Add(1)
	r, err := q.rangeOf(obj)
	if err != nil {
		q.Report(&source.RejectedError{Key: index.KeyOf(obj), ResourceVersion: version, Listed: listed, Err: err})
		return 0, false, false
	}
	if !q.asked.has(r) {
		q.foreign.Add(1)
	}
	return r, q.asked.has(r), true
}

// Put implements source.Sink.
func (q *part[T]) Put(obj T, version string) {
	r, _, ok := q.find(obj, version, false)
	q.change(version, func(at string) {
		if !ok {
			q.move(at)
			return
		}
		key := index.KeyOf(obj)
		was, known := q.places[key]
		switch {
		case known && was.part != q && was.version > number(version):
			q.move(at) // an earlier object of this key, of which the other watch has seen the end
		case known && q.hasSince(was, version):
			q.move(at) // the sink has this, or what came after it
		case q.owner[r] == q && !q.isBehind(r, version):
			q.setPlace(key, place[T]{q, number(version), r})
			q.sink.Put(obj, at)
		case known && was.part == q: // it has left its range
			q.forgetPlace(key)
			q.sink.Remove(key, index.Released, at)
		default:
			q.move(at)
		}
	})
}

// Delete implements source.Sink.
func (q *part[T]) Delete(obj T, version string) {
	var none T
	if obj == none {
		q.find(obj, version, false)
		return
	}
	q.change(version, func(at string) {
		if q.depart(index.KeyOf(obj), version) {
			q.sink.Delete(obj, at)
		} else {
			q.move(at)
		}
	})
}

// Remove implements source.Sink.
func (q *part[T]) Remove(key index.Key, reason index.Reason, version string) {
	q.change(version, func(at string) {
		if q.depart(key, version) {
			q.sink.Remove(key, reason, at)
		} else {
			q.move(at)
		}
	})
}

// depart notes that an object of the part is gone, if it is one. The caller holds lock.
func (q *part[T]) depart(key index.Key, version string) bool {
	at, known := q.places[key]
	if !known || at.part != q || q.isBehind(at.r, version) {
		return false
	}
	q.forgetPlace(key)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.worked {
		q.departed.add(key, at.r)
	}
	return true
}

// Bookmark implements source.Sink.
func (q *part[T]) Bookmark(version string) { q.change(version, q.move) }

// move reports that the version has moved on. The caller holds lock.
func (q *part[T]) move(version string) {
	if version != "" {
		q.sink.Bookmark(version)
	}
}

// change has a change reported, with the version to pass on.
func (q *part[T]) change(version string, report func(at string)) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.removed || q.ended || !q.listed {
		return
	}
	if version == "" {
		report("")
		return
	}
	q.version = version
	report(q.advance())
}

// stagedObject is an object of a list that the sink has taken in.
type stagedObject struct {
	source.Staged
	key index.Key
	r   uint8
}

// Stage implements source.Sink. It takes no lock.
func (q *part[T]) Stage(obj T, version string) source.Staged {
	r, asked, ok := q.find(obj, version, true)
	switch {
	case !ok:
		return source.Reject()
	case !asked:
		return source.LeaveOut()
	}
	key := index.KeyOf(obj)
	return stagedObject{q.sink.Stage(obj, version), key, r}
}

// Replace implements source.Sink.
func (q *part[T]) Replace(namespace string, objs []T, version string) {
	list := make([]source.Staged, len(objs))
	for i, obj := range objs {
		list[i] = q.Stage(obj, "")
	}
	q.ReplaceStaged(namespace, list, version)
}

// ReplaceStaged implements source.Sink.
func (q *part[T]) ReplaceStaged(namespace string, list []source.Staged, version string) {
	q.replace(list, version, func(key index.Key) bool { return namespace == "" || key.Namespace == namespace })
}

// ReplacePart implements source.Sink.
func (q *part[T]) ReplacePart(list []source.Staged, gone []index.Key, _ index.Reason, version string) {
	these := make(map[index.Key]struct{}, len(gone))
	for _, key := range gone {
		these[key] = struct{}{}
	}
	q.replace(list, version, func(key index.Key) bool {
		_, is := these[key]
		return is
	})
}

// RemoveNamespace implements source.Sink.
func (q *part[T]) RemoveNamespace(namespace, version string) {
	q.change(version, func(at string) {
		gone := []index.Key{}
		for key, is := range q.places {
			if is.part == q && key.Namespace == namespace {
				gone = append(gone, key)
				q.forgetPlace(key)
			}
		}
		q.sink.ReplacePart(nil, gone, index.OutOfScope, at)
	})
}

// Progress implements source.Sink. Only the first list's is told.
func (q *part[T]) Progress(received, expected int) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if !q.synced && len(q.running) == 1 && !q.removed && !q.ended {
		q.sink.Progress(received, expected)
	}
}

// Report implements source.Sink.
func (q *part[T]) Report(err error) {
	var rejected *source.RejectedError
	if errors.As(err, &rejected) {
		if rejected.Listed {
			q.lock.Lock()
			if q.rejected == nil {
				q.rejected = map[index.Key]struct{}{}
			}
			q.rejected[rejected.Key] = struct{}{}
			q.lock.Unlock()
		}
		q.sink.Report(err)
		return
	}
	defer q.tell()
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.removed || q.ended {
		return
	}
	if err != nil {
		q.err = fmt.Errorf("%d of 256 ranges: %w", q.asked.count(), err)
		q.untold = append(q.untold, q.trouble())
		return
	}
	q.err = nil
	if trouble := q.trouble(); trouble == nil {
		q.untold = append(q.untold, nil)
	}
}

// Share implements source.Sharer.
func (q *part[T]) Share() func(index.Key) (T, bool) { return source.ShareOf(q.sink) }

// Meter implements source.Metered.
func (q *part[T]) Meter() *source.Meter { return source.MeterOf(q.sink) }

// replace takes in a list of all objects of which of says that they are meant.
func (q *part[T]) replace(list []source.Staged, version string, of func(index.Key) bool) {
	q.Report(nil) // before anybody can see that it is listed
	defer q.tell()
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.removed || q.ended {
		return
	}
	own := q.takeOver(version)
	var acquired, relisted []source.Staged
	listed := make(map[index.Key]struct{}, len(list))
	for _, s := range list {
		obj, ok := s.(stagedObject)
		if !ok || !own.has(obj.r) {
			continue
		}
		if was, known := q.places[obj.key]; known && was.version > number(version) && !own.has(was.r) {
			continue // an earlier object of this key
		}
		listed[obj.key] = struct{}{}
		q.setPlace(obj.key, place[T]{q, number(version), obj.r})
		if q.loaded.has(obj.r) {
			relisted = append(relisted, obj.Staged)
		} else {
			acquired = append(acquired, obj.Staged)
		}
	}
	gone := q.missing(listed, version, of)
	q.rejected = nil
	q.listed, q.version = true, version
	first := !q.synced
	added := own.minus(q.loaded)
	q.loaded = q.loaded.or(own)
	q.prune()
	at := q.advance()
	switch {
	case first:
		q.synced = true
		q.sink.ReplaceStaged("", acquired, at)
	case len(acquired) == 0 && (added.empty() || len(relisted)+len(gone) > 0):
		q.sink.ReplacePart(relisted, gone, index.Relisted, at)
	case len(relisted)+len(gone) == 0:
		q.sink.ReplacePart(acquired, nil, index.Acquired, at)
	default:
		q.sink.ReplacePart(relisted, gone, index.Relisted, "")
		q.sink.ReplacePart(acquired, nil, index.Acquired, at)
	}
	if !added.empty() { // calls may begin when reads have the objects
		since, follower := q.since, q.follower
		source.Confirm(q.sink, func() { follower.loaded(added, since) })
	}
}
