package inspect

import (
	"cmp"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// informerOf returns the state of an informer without what has to be weighed.
func informerOf(s *report.Status, ids identities) *snapshot.Informer {
	of := &snapshot.Informer{
		ID: ids.of("informer", s.Name), Name: s.Name,
		Namespace: s.Origin.Namespace, Selection: s.Origin.Selection, Host: s.Origin.Host,
		Kind: s.Origin.Kind.Kind, Resource: s.Origin.Resource.Resource,
		APIVersion: cmp.Or(s.Origin.Kind.GroupVersion(), s.Origin.Resource.GroupVersion()).String(),
		Created:    siteOf(s.Created), Holders: []snapshot.CallSite{},

		Phase: s.Phase.String(),
		Error: textOf(s.Err), Forbidden: apierrors.IsForbidden(s.Err), LastError: textOf(s.LastErr),
		Failures: s.Failures, FailingSince: s.Since,

		ResourceVersion: s.ResourceVersion, Ahead: s.Ahead.Keys, AheadVersion: s.Ahead.ResourceVersion,
		Followed:  followedOf(&s.Followed),
		LastEvent: s.LastEvent, LastContact: s.LastContact,
		WatchSince: s.WatchSince, Watches: s.Watches, Relists: s.Relists,

		Objects: s.Objects, Events: s.Events, Received: s.Received, Expected: s.Expected,
		Queued: s.Queued, QueuedMax: s.QueuedMax,
		Traffic: trafficOf(s.Traffic), Budget: budgetOf(s.Budget), FactoryBudget: budgetOf(s.FactoryBudget),
		Rejected: s.Rejected, RejectedNow: s.RejectedNow, RejectedObjects: []snapshot.Rejected{},
		Indexes: []snapshot.Index{}, Handlers: []snapshot.Handler{},
	}
	for _, holder := range s.Holders {
		of.Holders = append(of.Holders, *siteOf(holder))
	}
	for _, rejected := range s.RejectedObjects {
		of.RejectedObjects = append(of.RejectedObjects, snapshot.Rejected{Key: rejected.Key.String(), Error: textOf(rejected.Err)})
	}
	for n := range s.Handlers {
		of.Handlers = append(of.Handlers, handlerOf(&s.Handlers[n]))
	}
	return of
}

// addWeight adds what has been weighed; sum is what all informers weigh.
func addWeight(of *snapshot.Informer, w *weight, sum int64) {
	if w.at.IsZero() {
		return
	}
	of.Heap = &snapshot.Heap{Bytes: w.heap.Bytes, Objects: w.heap.Objects, Sampled: w.heap.Sampled, At: w.at, Packed: packedOf(w.heap.Packed)}
	if sum > 0 {
		of.Heap.Share = float64(w.heap.Bytes) / float64(sum)
	}
	of.Indexes = slices.Grow(of.Indexes, len(w.indexes))
	for _, size := range w.indexes {
		of.Indexes = append(of.Indexes, snapshot.Index{Name: size.Name, Keys: size.Keys, Largest: size.Largest})
	}
}

// siteOf returns a line of the program, nil if it is not known.
func siteOf(site report.CallSite) *snapshot.CallSite {
	if site == (report.CallSite{}) {
		return nil
	}
	return &snapshot.CallSite{Function: site.Function, File: site.File, Line: site.Line, Short: site.String()}
}

// trafficOf returns the traffic of a source, nil if the source does not report it.
func trafficOf(t source.Traffic) *snapshot.Traffic {
	if t == (source.Traffic{}) {
		return nil
	}
	return &snapshot.Traffic{Bytes: t.Bytes, Frames: t.Frames, DecodingSeconds: t.Decoding.Seconds()}
}

// followedOf returns what a source follows by name, nil if it follows none.
func followedOf(f *source.Followed) *snapshot.Followed {
	if f.Limit == 0 {
		return nil
	}
	of := &snapshot.Followed{
		Held: f.Held, Idle: f.Idle, Limit: f.Limit, Pending: f.Pending, Present: f.Present, Absent: f.Absent,
		Refused: f.Refused, Unheld: f.Unheld, Unfollowed: []snapshot.Unfollowed{}, LiveReads: f.LiveReads,
	}
	for _, one := range f.Unfollowed {
		of.Unfollowed = append(of.Unfollowed, snapshot.Unfollowed{Key: one.Key.String(), Error: textOf(one.Err), Since: one.Since})
	}
	return of
}

// packedOf returns the state of objects that are kept as bytes, nil if there are none.
func packedOf(p report.Packed) *snapshot.Packed {
	if p.Objects == 0 {
		return nil
	}
	return &snapshot.Packed{Objects: p.Objects, Bytes: p.Bytes, RawBytes: p.Raw, Bases: p.Bases, Decoded: p.Decoded, DecodingSeconds: p.Decoding.Seconds()}
}

// budgetOf returns what an informer or a factory may take, nil without limits.
func budgetOf(b report.Budget) *snapshot.Budget {
	if b.Objects == 0 && b.Bytes == 0 {
		return nil
	}
	return &snapshot.Budget{Objects: b.Objects, Bytes: b.Bytes, Kept: b.Kept, HeapBytes: b.HeapBytes, Used: b.Used, Since: b.Since}
}

// handlerOf returns the state of a handler.
func handlerOf(s *report.Handler) snapshot.Handler {
	return snapshot.Handler{
		Name: s.Name, Delivery: s.Delivery, Synced: s.Synced, Backlog: s.Backlog,
		Panics: s.Panics, LastPanic: s.LastPanic, LastPanicAt: s.LastPanicAt,
		Times: timesOf(s.Times, s.Recent), Current: callOf(s.Current), Slowest: callOf(s.Slowest), Stuck: s.Stuck,
	}
}

// callOf returns a call of a handler, nil if there is none.
func callOf(c *report.Call) *snapshot.Call {
	if c == nil {
		return nil
	}
	return &snapshot.Call{Type: c.Type.String(), Key: c.Key.String(), Began: c.Began, Seconds: seconds(c.Took)}
}

// timesOf returns how long calls took, nil if they are not timed.
func timesOf(t *report.CallTimes, recent *report.RecentCalls) *snapshot.Times {
	if t == nil {
		return nil
	}
	times := &snapshot.Times{Calls: t.Calls(), SumSeconds: t.Sum.Seconds()}
	if times.Calls > 0 {
		times.MeanSeconds = times.SumSeconds / float64(times.Calls)
	}
	if recent != nil {
		times.Recent = &snapshot.Recent{Calls: recent.Calls, MaxSeconds: recent.Max.Seconds()}
		if recent.Calls > 0 {
			times.Recent.MeanSeconds = recent.Sum.Seconds() / float64(recent.Calls)
		}
	}
	for n, calls := range t.Counts {
		bucket := snapshot.Bucket{Calls: calls}
		if n < len(report.CallBounds) {
			bucket.UpToSeconds = report.CallBounds[n].Seconds()
		}
		times.Buckets = append(times.Buckets, bucket)
	}
	return times
}

// seconds returns a duration that is not negative.
func seconds(d time.Duration) float64 { return max(0, d.Seconds()) }
