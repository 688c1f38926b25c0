package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// part is the Sink of one list and watch.
type part[T index.Object] struct {
	*parts[T]
	asked  ranges // never changed
	ctx    context.Context
	cancel context.CancelFunc

	unasked atomic.Bool // something came that was not asked for

	// Guarded by lock of parts.
	listed, removed, finished bool
	version                   string
	reported                  string             // up to which all was reported; guarded by placing as well
	reached                   [rangeCount]uint64 // see takeOver
	floor                     uint64             // the lowest of reached, of the ranges it owns
	err                       error
	rejected                  sets.Set[index.Key] // by the part, or of a list by the sink
}

// run lists and watches until the part is not needed any more.
func (q *part[T]) run() error {
	defer q.cancel()
	src := q.open()
	if src == nil {
		return errors.New("source is nil")
	}
	if q.needs != "" && source.Omits(src, q.needs) {
		return fmt.Errorf("hash %s reads %s, which the source leaves out: name the field in kube.WithFields, or leave it out of kube.WithoutFields", q.name, q.needs)
	}
	leave, err := q.opened.Add(src, func() []string { return q.Decoding().Needs })
	if err != nil {
		return err
	}
	defer leave()
	if sharder, ok := src.(source.Sharder[T]); ok && q.field != "" {
		q.asks.Store(true)
		src = sharder.InShards(q.asked.selector(q.field))
	}
	err = src.Run(q.ctx, q)
	if q.ctx.Err() != nil {
		return nil // it was stopped
	}
	q.lock.Lock()
	defer q.lock.Unlock()
	q.finished = true
	return err
}

// find returns the range of an object that was received, and whether that was asked for.
func (q *part[T]) find(obj T, version string, listed bool) (r uint8, asked, ok bool) {
	var none T
	if index.Same(obj, none) {
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
		if q.unasked.CompareAndSwap(false, true) {
			q.unselected.Store(true)
			q.follower.poke()
		}
	}
	return r, q.asked.has(r), true
}

// Change implements source.Sink.
func (q *part[T]) Change(c index.Change[T], version string) {
	r, ok := q.rangeOfChange(&c, version)
	q.change(version, func(at string) {
		if c, ok := q.judge(c, r, ok, version); ok {
			q.sink.Change(c, at)
		} else {
			q.move(at)
		}
	})
}

// Step implements source.Sink. It leaves out changes of other ranges.
func (q *part[T]) Step(changes []index.Change[T], version string, done func()) {
	type found struct {
		r  uint8
		ok bool
	}
	ranges := make([]found, len(changes))
	for i := range changes {
		ranges[i].r, ranges[i].ok = q.rangeOfChange(&changes[i], version)
	}
	q.change(version, func(at string) {
		own := make([]index.Change[T], 0, len(changes))
		for i, c := range changes {
			if c, ok := q.judge(c, ranges[i].r, ranges[i].ok, version); ok {
				own = append(own, c)
			}
		}
		if len(own) > 0 || at != "" || done != nil {
			q.sink.Step(own, at, done)
		}
	})
}

// rangeOfChange returns the range of an object that was received. It is false if the object
// cannot be used, which was reported. The range of a deleted object does not matter.
func (q *part[T]) rangeOfChange(c *index.Change[T], version string) (r uint8, ok bool) {
	var none T
	if !c.Delete || c.Key == nil && index.Same(c.Object, none) {
		r, _, ok = q.find(c.Object, version, false)
		return r, ok
	}
	return 0, true
}

// judge returns what a change is to the sink, false if nothing. The caller holds lock.
func (q *part[T]) judge(c index.Change[T], r uint8, ok bool, version string) (index.Change[T], bool) {
	switch {
	case !ok:
		return c, false
	case c.Delete && c.Key != nil:
		return c, q.depart(*c.Key, version, c.UID == nil)
	case c.Delete:
		return c, q.depart(index.KeyOf(c.Object), version, c.UID == nil)
	}
	key := index.KeyOf(c.Object)
	q.repair(key)
	was, known := q.places[key]
	switch {
	case known && was.part != q && was.version > number(version):
		return c, false // an earlier object of this key, of which the other watch has seen the end
	case known && q.hasSince(was, version):
		return c, false // the sink has this, or what came after it
	case q.owner[r] == q && !q.isBehind(r, version):
		q.setPlace(key, place[T]{q, number(version), objectVersion(c.Object), r})
		return c, true
	case known && was.part == q: // it has left its range
		q.forgetPlace(key)
		gone := key
		return index.Change[T]{Delete: true, Reason: index.Released, Key: &gone}, true
	default:
		return c, false
	}
}

// depart notes that an object of the part is gone, if it is one. Unless that is known for
// sure, its place is kept: it does no harm if it is gone. The caller holds lock.
func (q *part[T]) depart(key index.Key, version string, sure bool) bool {
	if sure {
		q.repair(key)
	}
	at, known := q.places[key]
	if !known || at.part != q || q.isBehind(at.r, version) {
		return false
	}
	if !sure {
		return true
	}
	q.forgetPlace(key)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.worked {
		q.departed.add(key, at.r)
	}
	return true
}

// move reports that the version has moved on. The caller holds lock.
func (q *part[T]) move(version string) {
	if version != "" {
		q.sink.Step(nil, version, nil)
	}
}

// change calls report for a change, with the version to pass on.
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
	at := q.advance()
	report(at)
	q.reportVersion(at)
}

// reportVersion notes that all is reported up to the version of the part, at another one for
// all parts. The caller holds lock.
func (q *part[T]) reportVersion(at string) {
	q.placing.Lock()
	q.reported = q.version
	q.placing.Unlock()
	if at != q.version {
		q.sink.Step(nil, "", nil)
	}
}

// stagedObject is an object of a list that the sink has taken in.
type stagedObject struct {
	source.Staged
	key    index.Key
	object uint64 // its version
	r      uint8
}

// objectVersion returns the version of an object, 0 if it is not known.
func objectVersion[T index.Object](obj T) uint64 {
	if of, ok := any(obj).(interface{ GetResourceVersion() string }); ok {
		return number(of.GetResourceVersion())
	}
	return 0
}

// Stage implements source.Sink. It takes no lock.
func (q *part[T]) Stage(obj T, version string) source.Staged {
	var none T
	r, asked, ok := q.find(obj, version, true)
	switch {
	case !ok && index.Same(obj, none):
		return source.Reject(index.Key{})
	case !ok:
		return source.Reject(index.KeyOf(obj))
	case !asked:
		return source.LeaveOut()
	}
	inner := q.sink.Stage(obj, version)
	if key, is := source.Rejected(inner); is {
		q.noteRejected(key)
	}
	return stagedObject{inner, index.KeyOf(obj), objectVersion(obj), r}
}

// Replace implements source.Sink.
func (q *part[T]) Replace(l source.List, version string) {
	within := func(key index.Key) bool { return l.Namespace == "" || key.Namespace == l.Namespace }
	switch {
	case l.Part:
		q.replace(l, version, sets.New(l.Gone...).Has)
	case l.Leaves():
		q.removeNamespace(l, version, within)
	default:
		q.replace(l, version, within)
	}
}

// removeNamespace takes out the objects of the part that are within a namespace.
func (q *part[T]) removeNamespace(l source.List, version string, within func(index.Key) bool) {
	q.change(version, func(at string) {
		q.repairBut(nil, within)
		gone := []index.Key{}
		for key, is := range q.places {
			if is.part == q && within(key) {
				gone = append(gone, key)
				q.forgetPlace(key)
			}
		}
		q.sink.Replace(source.List{Part: true, Gone: gone, Reason: l.Reason}, at)
	})
}

// Progress implements source.Sink. It passes on only that of the first list.
func (q *part[T]) Progress(received, expected int) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if !q.synced && len(q.running) == 1 && !q.removed && !q.ended {
		q.sink.Progress(received, expected)
	}
}

// Report implements source.Sink.
func (q *part[T]) Report(err error) {
	rejected, isRejected := source.AsRejected(err)
	if isRejected && !rejected.Stands {
		q.noteRejected(rejected.Key)
	}
	if isRejected || errors.Is(err, source.ErrNotStreamed) { // the part does not fail
		q.sink.Report(err)
		return
	}
	defer q.report()
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.removed || q.ended {
		return
	}
	if err != nil {
		q.err = fmt.Errorf("%d of 256 ranges: %w", q.asked.count(), err)
		q.reports.Add(q.trouble())
		return
	}
	q.err = nil
	if trouble := q.trouble(); trouble == nil {
		q.reports.Add(nil)
	}
}

// Decoding implements source.Sink.
func (q *part[T]) Decoding() source.Decoding[T] {
	decoding := q.sink.Decoding()
	decoding.Versioned = "a shard hands objects on by their versions"
	return decoding
}

// replace takes in a list of all objects of which of says that they are meant.
func (q *part[T]) replace(l source.List, version string, of func(index.Key) bool) {
	q.Report(nil) // before readers can see that it is listed
	defer q.report()
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.removed || q.ended {
		return
	}
	own := q.takeOver(version)
	in := q.sort(l.Items, version, own)
	q.repairBut(in.stay, of)
	gone := append(in.outside, q.missing(in.listed, version, of)...)
	if !q.listed {
		q.follower.poke() // ranges may wait for a list to end
	}
	q.listed, q.version = true, version
	first := !q.synced
	added := own.minus(q.loaded)
	q.loaded = q.loaded.or(own)
	q.prune()
	at := q.advance()
	known := source.List{Part: true, Items: in.relisted, Gone: gone, Reason: cmp.Or(l.Reason, index.Relisted)}
	come := source.List{Part: true, Items: in.acquired, Reason: index.Acquired}
	switch {
	case first:
		q.synced = true
		q.sink.Replace(source.List{Items: append(in.acquired, in.rejected...), Reason: cmp.Or(l.Reason, index.Acquired), Released: q.isOutside(own)}, at)
	case len(in.acquired) == 0 && (added.empty() || len(in.relisted)+len(gone) > 0):
		q.sink.Replace(known, at)
	case len(in.relisted)+len(gone) == 0:
		q.sink.Replace(come, at)
	default:
		q.sink.Replace(known, "")
		q.sink.Replace(come, at)
	}
	q.reportVersion(at)
	if !added.empty() { // calls may begin when reads have the objects
		since, follower := q.since, q.follower
		q.sink.Step(nil, "", func() { follower.loaded(added, since) })
	}
}

// noteRejected notes that an object was rejected. Its range may not be known, so the part
// reports to the sink when the object is no longer rejected.
func (q *part[T]) noteRejected(key index.Key) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.rejected.Insert(key)
}

// repair takes back that an object was rejected, which has come, or is gone, unless another
// part has rejected it as well. The caller holds lock.
func (q *part[T]) repair(key index.Key) {
	if !q.rejected.Has(key) {
		return
	}
	q.rejected.Delete(key)
	if slices.ContainsFunc(q.running, func(other *part[T]) bool { return other.rejected.Has(key) }) {
		return
	}
	q.sink.Report(&source.RejectedError{Key: key})
}

// repairBut takes back what was rejected and is not in a list any more, of which of says
// that it would be. The caller holds lock.
func (q *part[T]) repairBut(stay sets.Set[index.Key], of func(index.Key) bool) {
	for key := range q.rejected.Clone() {
		if !stay.Has(key) && of(key) {
			q.repair(key)
		}
	}
}

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
