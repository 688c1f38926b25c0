package adapters

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// sharedFeed is the handler that a source adds to a shared informer. It collects changes until
// the registration has synced, and passes on each later change as it comes.
type sharedFeed[T index.Object] struct {
	sink    source.Sink[T]
	lend    func(T) T     // copies an object for the sink; nil: the sink modifies none
	lost    chan struct{} // closed when the deletion of an unknown object was received
	stirred chan struct{} // has room for one: settle is to be called soon

	mu        sync.Mutex // held while the sink is called
	phase     sharedPhase
	collected []sharedChange[T] // guarded by mu
	initial   int               // guarded by mu; how many were collected up to the last initial addition
	rejected  []index.Key       // guarded by mu; of objects that are no T, while collecting
	version   sharedVersion     // guarded by mu
	settled   bool              // guarded by mu; what settle returned last
	reached   *reachedVersions  // guarded by mu; nil: versions of objects show which one was reached
	after     func(func())      // guarded by mu; calls a function after the events up to now
	asked     bool              // guarded by mu; reach is going to be called
}

type sharedPhase uint8

const (
	sharedCollecting sharedPhase = iota
	sharedFollowing
	sharedClosed
)

// sharedChange is a change that a shared informer reported.
type sharedChange[T index.Object] struct {
	kind    index.EventType
	object  T
	key     *index.Key   // of an object that is gone, and is no T
	version string       // of the object
	reason  index.Reason // of a deletion, 0 for the usual one
}

// at returns the key of the object.
func (c *sharedChange[T]) at() index.Key {
	if c.key != nil {
		return *c.key
	}
	return index.KeyOf(c.object)
}

func newSharedFeed[T index.Object](sink source.Sink[T], store cache.Store) *sharedFeed[T] {
	return &sharedFeed[T]{
		sink:    sink,
		lost:    make(chan struct{}),
		stirred: make(chan struct{}, 1),
		version: newSharedVersion(store),
	}
}

func _[T index.Object]() { var _ cache.ResourceEventHandler = (*sharedFeed[T])(nil) }

// String names the handler where a shared informer writes about it.
func (f *sharedFeed[T]) String() string {
	return fmt.Sprintf("typed source of %v", reflect.TypeFor[T]())
}

// Needs returns the fields that readers of the source need, see typed.Needs.
func (f *sharedFeed[T]) Needs() []string { return f.sink.Decoding().Needs }

// OnAdd implements cache.ResourceEventHandler.
func (f *sharedFeed[T]) OnAdd(untyped any, initial bool) {
	if obj, rejected := f.convert(untyped); rejected == nil {
		f.take(changeOf(index.Added, obj), initial)
	} else {
		f.reject(rejected.Key)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (f *sharedFeed[T]) OnUpdate(old, untyped any) {
	obj, rejected := f.convert(untyped)
	if rejected != nil {
		f.reject(rejected.Key)
		return
	}
	if old, ok := old.(T); ok && index.Same(old, obj) {
		return // a resync
	}
	f.take(changeOf(index.Updated, obj), false)
}

// OnDelete implements cache.ResourceEventHandler.
func (f *sharedFeed[T]) OnDelete(untyped any) {
	var reason index.Reason // the usual one
	if tombstone, ok := untyped.(cache.DeletedFinalStateUnknown); ok {
		if obj, ok := tombstone.Obj.(T); !ok || isZero(obj) {
			f.lose()
			return
		}
		untyped, reason = tombstone.Obj, index.Relisted
	}
	obj, rejected := f.convert(untyped)
	switch {
	case rejected == nil:
		c := changeOf(index.Deleted, obj)
		c.reason = reason
		f.take(c, false)
	case rejected.Key.Name != "":
		f.take(sharedChange[T]{kind: index.Deleted, key: &rejected.Key, version: rejected.ResourceVersion, reason: reason}, false)
	}
}

// convert returns the object as a T. One that is nil or not a T, it reports and returns as an
// error.
func (f *sharedFeed[T]) convert(untyped any) (T, *source.RejectedError) {
	obj, ok := untyped.(T)
	if ok && !isZero(obj) {
		return obj, nil
	}
	want := reflect.TypeFor[T]()
	rejected := &source.RejectedError{Err: fmt.Errorf("the shared informer has a %T, not a %v", untyped, want)}
	if ok {
		rejected.Err = errors.New("object is nil")
	} else if accessor, err := meta.Accessor(untyped); err == nil {
		rejected.Key = index.Key{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}
		rejected.ResourceVersion = accessor.GetResourceVersion()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != sharedClosed {
		f.sink.Report(rejected)
	}
	return obj, rejected
}

// reject notes that an object which exists is none of those collected.
func (f *sharedFeed[T]) reject(key index.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase == sharedCollecting {
		f.rejected = append(f.rejected, key)
	}
}

func changeOf[T index.Object](kind index.EventType, obj T) sharedChange[T] {
	version, _ := versionOf(obj)
	return sharedChange[T]{kind: kind, object: obj, version: version}
}

func (f *sharedFeed[T]) take(c sharedChange[T], initial bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.phase {
	case sharedCollecting:
		f.collected = append(f.collected, c)
		if len(f.rejected) > 0 {
			f.rejected = slices.DeleteFunc(f.rejected, func(key index.Key) bool { return key == c.at() })
		}
		if initial {
			f.initial = len(f.collected)
			f.sink.Progress(f.initial, 0)
		}
	case sharedFollowing:
		f.pass(c)
		if f.settled {
			f.settled = false
			monitor.Wake(f.stirred)
		}
	}
}

// pass reports a change. The caller holds mu.
func (f *sharedFeed[T]) pass(c sharedChange[T]) {
	version := f.version.passed(c.version)
	change := index.Change[T]{Delete: c.kind == index.Deleted, Reason: c.reason, Key: c.key}
	if c.key == nil {
		change.Object = f.lent(c.object)
	}
	f.sink.Change(change, version)
}

// lent returns an object as it is passed on.
func (f *sharedFeed[T]) lent(obj T) T {
	if f.lend == nil {
		return obj
	}
	return f.lend(obj)
}

// begin reports what was collected, now that the registration has synced: all up
// to the last initial addition as one state, the rest as it came.
func (f *sharedFeed[T]) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != sharedCollecting {
		return
	}
	f.phase = sharedFollowing
	collected := f.collected
	f.collected = nil
	objs, version := f.fold(collected[:f.initial])
	for i := range objs {
		objs[i] = f.lent(objs[i])
	}
	items := source.StageAll(f.sink, objs)
	for _, key := range f.rejected {
		items = append(items, source.Reject(key))
	}
	f.sink.Replace(source.List{Items: items}, version)
	f.rejected = nil
	for _, c := range collected[f.initial:] {
		f.pass(c)
	}
}

// fold returns the objects that exist after some changes, and the version up to which they are
// complete. The caller holds mu.
func (f *sharedFeed[T]) fold(changes []sharedChange[T]) ([]T, string) {
	plain := true
	for _, c := range changes {
		plain = plain && c.kind == index.Added
		f.version.collected(c.version)
	}
	if plain { // the usual case: no object changed before the shared informer reported all
		objs := make([]T, len(changes))
		for i, c := range changes {
			objs[i] = c.object
		}
		return objs, f.version.begin()
	}
	state := make(map[index.Key]T, len(changes))
	for _, c := range changes {
		if key := c.at(); c.kind == index.Deleted {
			delete(state, key)
		} else {
			state[key] = c.object
		}
	}
	return slices.Collect(maps.Values(state)), f.version.begin()
}

// settle reports the version that was reached when no change has come for a while. It returns
// false when it is to be called again soon.
func (f *sharedFeed[T]) settle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != sharedFollowing {
		return true
	}
	if f.reached != nil {
		f.settled = f.ask()
		return f.settled
	}
	var version string
	version, f.settled = f.version.settle()
	if version != "" {
		f.sink.Step(nil, version, nil)
	}
	return f.settled
}

// lose asks for another feed in place of this one, which passes on nothing more.
func (f *sharedFeed[T]) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != sharedClosed {
		f.phase = sharedClosed
		close(f.lost)
	}
}

// close waits for a call that is in progress. Nothing is passed on after it.
func (f *sharedFeed[T]) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase = sharedClosed
	f.collected = nil
}

func isZero[T any](obj T) bool {
	var none T
	return index.Same(obj, none)
}
