package typed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/heapsize"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// access is all that an Informer and a SharedInformer have alike. It refers to the informer
// and to its store, each by one load; the release of a SharedInformer exchanges both for
// released ones.
type access[T index.Object] struct {
	reads    atomic.Pointer[index.Indexer[T]]
	informer atomic.Pointer[*Informer[T]] // of a pointer, whose code all types of objects share
	calls    *pendingCalls                // that end with the release of a SharedInformer; nil: it is an Informer
}

// refer sets the informer.
func (a *access[T]) refer(i *Informer[T]) {
	a.informer.Store(&i)
	a.reads.Store(i.store)
}

// within returns the informer, and a context that ends with ctx, or with the release of a
// SharedInformer, and then before the informer stops.
func (a *access[T]) within(ctx context.Context) (*Informer[T], context.Context, func()) {
	i := a.followed()
	if a.calls == nil {
		return i, ctx, func() {}
	}
	ctx, stop := a.calls.within(ctx)
	return i, ctx, stop
}

// pendingCalls are those that wait.
type pendingCalls struct {
	mu  sync.Mutex                            // held for moments
	all map[*context.CancelCauseFunc]struct{} // guarded by mu; nil after the release
}

func newPendingCalls() *pendingCalls {
	return &pendingCalls{all: map[*context.CancelCauseFunc]struct{}{}}
}

// within returns a context that ends with ctx, or with end.
func (c *pendingCalls) within(ctx context.Context) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		end(index.ErrReleased)
		return ctx, func() {}
	}
	c.all[&end] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		delete(c.all, &end)
		c.mu.Unlock()
		end(nil)
	}
}

// end ends the contexts of calls that wait.
func (c *pendingCalls) end() {
	c.mu.Lock()
	all := c.all
	c.all = nil
	c.mu.Unlock()
	for end := range all {
		(*end)(index.ErrReleased)
	}
}

// Is reports whether both are the same informer, or uses of it.
func (a *access[T]) Is(other Followed[T]) bool { return a.followed() == other.followed() }

// followed implements Followed.
func (a *access[T]) followed() *Informer[T] { return *a.informer.Load() }

// Get returns the object of key, false if there is none.
func (a *access[T]) Get(key index.Key) (T, bool) { return a.reads.Load().Get(key) }

// Rejected reports what was wrong with the state of an object that was received last, if it
// could not be used, so that what Get returns for the key is an earlier state or nothing;
// otherwise it returns nil. See source.RejectedError.
func (a *access[T]) Rejected(key index.Key) *source.RejectedError {
	i := a.followed()
	return i.health.rejections.of(key)
}

// Len returns the number of objects.
func (a *access[T]) Len() int { return a.reads.Load().Len() }

// List returns all objects, in no particular order, nil if there are none. The
// slice is the caller's.
func (a *access[T]) List() []T { return a.reads.Load().List() }

// All ranges over all objects, in no particular order, without copying them
// and without holding a lock while the loop body runs.
func (a *access[T]) All() iter.Seq[T] { return a.reads.Load().All() }

// ListNamespace returns the objects of one namespace, in no particular order,
// nil if there are none. The slice is the caller's.
func (a *access[T]) ListNamespace(namespace string) []T {
	return a.reads.Load().ListNamespace(namespace)
}

// InNamespace ranges over the objects of one namespace.
func (a *access[T]) InNamespace(namespace string) iter.Seq[T] {
	return a.reads.Load().InNamespace(namespace)
}

// Candidates ranges over the objects that the indexes cannot rule out for a
// namespace and a selector, see index.Reader.
func (a *access[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return a.reads.Load().Candidates(namespace, selector)
}

// Keys ranges over the keys of all objects, in no particular order.
func (a *access[T]) Keys() iter.Seq[index.Key] { return a.reads.Load().Keys() }

// ResourceVersion returns the version that reads reflect at least, "" before
// the first list.
func (a *access[T]) ResourceVersion() string { return a.reads.Load().ResourceVersion() }

// Snapshot returns the current state, which then stays as it is.
func (a *access[T]) Snapshot() *index.Snapshot[T] { return a.reads.Load().Snapshot() }

// AnyInformer is an *Informer or a *SharedInformer, whatever the type of its objects: what
// those ask who show informers on pages or in metrics. Nothing panics after Release; there
// are no objects then.
type AnyInformer interface {
	// Name is Informer.Name.
	Name() string
	// Status is Informer.Status.
	Status() report.Status
	// EstimateHeap is Informer.EstimateHeap.
	EstimateHeap(sample int) report.Heap
	// IndexSizes is Informer.IndexSizes.
	IndexSizes() []index.IndexSize
	// Explain is Informer.Explain.
	Explain(key index.Key) report.Key
	// ObjectJSON is Informer.ObjectJSON.
	ObjectJSON(key index.Key) ([]byte, error)
}

// Status reports on the informer. It waits for nothing that is the user's, so it may
// be called from anywhere, an index function for example.
func (a *access[T]) Status() report.Status {
	i := a.followed()
	s := report.Status{
		Name:            i.name,
		Origin:          i.located(),
		ResourceVersion: i.store.ResourceVersion(),
		Queued:          i.deltas.Len(),
		QueuedMax:       i.deltas.HighWater(),
	}
	if following, ok := i.source.(source.Following); ok {
		s.Followed = following.Followed()
	}
	if keys, highest := source.AheadOf(i.source); keys > 0 {
		s.Ahead = report.Ahead{Keys: keys, ResourceVersion: strconv.FormatUint(highest, 10)}
	}
	s.Received, s.Expected = int(i.received.Load()), int(i.expected.Load())
	s.Events = int(i.published.Load())
	if at := i.lastEvent.Load(); at != 0 {
		s.LastEvent = time.Unix(0, at)
	}
	s.Relists = int(i.relists.Load())
	i.health.fill(&s)
	if at := i.contact.Load(); at != 0 {
		s.LastContact = later(s.LastContact, time.Unix(0, at))
	}
	s.Phase = i.Phase()
	s.Objects = i.countObjects()
	s.Traffic, s.Created = i.meter.Traffic(), i.created
	if i.holders != nil {
		s.Holders = i.holders.sites()
	}
	for _, m := range i.listeners.all() {
		s.Handlers = append(s.Handlers, m.status())
	}
	i.hooks.each(func(h *observer.Hooks) {
		if h.Status != nil {
			h.Status(&s)
		}
	})
	return s
}

// countObjects returns the number of objects, 0 if the store was released.
func (i *Informer[T]) countObjects() (n int) {
	unlessReleased(func() { n = i.store.Len() })
	return n
}

// unlessReleased calls a function that reads a store, which may be released at any time. It
// reports whether that has not happened before.
func unlessReleased(read func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if err, is := p.(error); !is || !errors.Is(err, index.ErrReleased) {
				panic(p)
			}
		}
	}()
	read()
	return true
}

// EstimateHeap estimates the memory of the objects by measuring some of them: up to sample,
// spread evenly over all. That takes about tens of microseconds for each, and is for pages and
// budgets, not for hot paths. The informer continues meanwhile. Objects that are kept as bytes are
// counted, all of them, unless the first object is none. With a sample of 0 nothing else is.
func (a *access[T]) EstimateHeap(sample int) report.Heap {
	counts := heapsize.MayBePacked[T]()
	if sample <= 0 && !counts {
		return report.Heap{}
	}
	i := a.followed()
	s, ok := i.snapshotNow()
	if !ok || s.Len() == 0 {
		return report.Heap{}
	}
	var h report.Heap
	n, part := s.Len(), 0 // of an object that is to be measured, in parts of n
	scale := heapsize.NewScale()
	sample = min(max(sample, 0), n)
	var packed heapsize.PackedSum
	for obj := range s.All() {
		if part += sample; part >= n {
			part -= n
			scale.Add(obj)
		}
		if counts {
			counts = packed.AddPacked(obj) || packed.Objects > 0
		} else if sample == 0 {
			break
		}
	}
	if h.Sampled = scale.Added(); h.Sampled > 0 {
		h.Objects, h.Bytes = n, scale.Bytes()*int64(n)/int64(h.Sampled)+packed.OfBases
	}
	h.Packed = report.Packed{
		Objects: packed.Objects, Bytes: packed.Bytes, Raw: packed.Raw, Bases: packed.Bases,
		Decoded: packed.Decoded, Decoding: packed.Took,
	}
	return h
}

// IndexSizes returns how large the indexes are, in the order in which they were added. It
// looks at each of their keys, while the informer continues.
func (a *access[T]) IndexSizes() []index.IndexSize {
	i := a.followed()
	if s, ok := i.snapshotNow(); ok {
		return s.IndexSizes()
	}
	return nil
}

// Explain reports what the informer knows of a key.
func (a *access[T]) Explain(key index.Key) report.Key {
	i := a.followed()
	var k report.Key
	if rejected := i.Rejected(key); rejected != nil {
		k.Rejected = rejected
	}
	i.hooks.each(func(h *observer.Hooks) {
		if h.Explain != nil {
			h.Explain(key, &k)
		}
	})
	s, ok := i.snapshotNow()
	if !ok {
		return k
	}
	obj, found := s.Get(key)
	if !found {
		return k
	}
	k.Found, k.Indexes = true, s.IndexKeys(key)
	k.UID, k.ResourceVersion = uidOf(obj), versionOf(obj)
	return k
}

// ObjectJSON returns the object of a key as JSON, as far as its type can be encoded: for
// people to look at. The error wraps index.ErrReleased, or says that there is no such object.
func (a *access[T]) ObjectJSON(key index.Key) ([]byte, error) {
	i := a.followed()
	s, ok := i.snapshotNow()
	if !ok {
		return nil, fmt.Errorf("informer %s: %w", i.name, index.ErrReleased)
	}
	obj, found := s.Get(key)
	if !found {
		return nil, fmt.Errorf("informer %s: there is no object %s", i.name, key)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("informer %s: object %s: %w", i.name, key, err)
	}
	return text, nil
}

// snapshotNow returns the state of the store, false if that was released.
func (i *Informer[T]) snapshotNow() (s *index.Snapshot[T], ok bool) {
	ok = unlessReleased(func() { s = i.store.Snapshot() })
	return s, ok
}

func uidOf[T index.Object](obj T) types.UID {
	if u, ok := any(obj).(uidGetter); ok {
		return u.GetUID()
	}
	return ""
}

func versionOf[T index.Object](obj T) string {
	if v, ok := any(obj).(versionGetter); ok {
		return v.GetResourceVersion()
	}
	return ""
}
