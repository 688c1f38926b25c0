package view

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// feed is the stage of an input, an informer or a Set.
type feed[T index.Object] struct {
	table[T]
	inputLeaf[T]
	origins []*origin // of the views that stand for the input

	inbox    inbox[T]
	unfollow func()
	taken    []pair[T]

	rows places[T] // by the object: events name the very one that they replace
	slot []uint32  // by row: its place in changes plus one
}

func (f *feed[T]) begin(wake func()) error {
	f.rows = newPlaces[T]()
	f.inbox.wake = wake
	unfollow, err := f.from.Follow(&f.inbox)
	f.unfollow = unfollow
	return err
}

func (f *feed[T]) leafOf() leaf { return f.inputLeaf }

func (f *feed[T]) end() { f.unfollow() }

func (f *feed[T]) state() inputState {
	f.inbox.mu.Lock()
	defer f.inbox.mu.Unlock()
	return f.inbox.state
}

func (f *feed[T]) take() (version string) {
	initial := f.inbox.take(&f.taken, &version)
	if initial == nil {
		return version
	}
	all := make([]pair[T], 0, initial.Len()+len(f.taken))
	for obj := range initial.All() {
		all = append(all, pair[T]{now: obj})
	}
	f.taken = append(all, f.taken...)
	return version
}

// step implements stage.
func (f *feed[T]) step() {
	var none T
	f.changes = slices.Grow(f.changes, len(f.taken))
	for _, c := range f.taken {
		row, there := f.find(c.old)
		switch {
		case there && isNone(c.now):
			f.rows.remove(f.objects[row])
			f.change(row, none, c.reason)
		case there:
			if !index.Same(c.now, f.objects[row]) {
				f.rows.remove(f.objects[row])
				f.rows.put(c.now, row)
				f.change(row, c.now, c.reason)
			}
		case !isNone(c.now):
			row := f.newRow()
			f.slot = grown(f.slot, int(row)+1)
			f.rows.put(c.now, row)
			f.change(row, c.now, c.reason)
		}
	}
	clear(f.taken)
	f.taken = kept(f.taken)
	f.dropUnchanged()
}

// find returns the row of an object. Only with index.WithLiteralEvents may an informer name
// another state of an object as the old one: then find searches all rows.
func (f *feed[T]) find(obj T) (uint32, bool) {
	if isNone(obj) {
		return 0, false
	}
	if row, ok := f.rows.get(obj); ok {
		return row, true
	}
	for row, other := range f.objects {
		if !isNone(other) && compareKeys(obj, other) == 0 {
			return uint32(row), true
		}
	}
	return 0, false
}

// change changes a row, perhaps again.
func (f *feed[T]) change(row uint32, obj T, reason index.Reason) {
	if at := f.slot[row]; at != 0 {
		f.objects[row] = obj
		f.changes[at-1].now, f.changes[at-1].reason = obj, reason
		return
	}
	f.changes = append(f.changes, change[T]{row, f.objects[row], obj, reason})
	f.objects[row] = obj
	f.slot[row] = uint32(len(f.changes))
}

// dropUnchanged ends the calls of change in a step.
func (f *feed[T]) dropUnchanged() {
	changes := f.changes[:0]
	for _, c := range f.changes {
		f.slot[c.row] = 0
		if isNone(c.old) {
			f.count++
		}
		if isNone(c.now) {
			f.count--
			f.gone = append(f.gone, c.row)
		}
		if !index.Same(c.old, c.now) {
			changes = append(changes, c)
		}
	}
	clear(f.changes[len(changes):])
	f.changes = changes
}

// inbox is a typed.Follower. Its fields are guarded by mu, except the functions.
type inbox[T index.Object] struct {
	wake  func()
	needs func() []string // see program.needs

	mu      sync.Mutex
	initial *index.Snapshot[T] // comes before pending; nil: nothing
	pending []pair[T]
	limit   int // of pending, beyond which changes of one object are joined
	state   inputState
	version string
}

// pair is a change of an object, with the reason of the event.
type pair[T index.Object] struct {
	old, now T
	reason   index.Reason
}

const minPending = 16384

// take exchanges what waits for an empty slice, and returns what comes before it.
func (b *inbox[T]) take(taken *[]pair[T], version *string) (initial *index.Snapshot[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	initial, b.initial = b.initial, nil
	*taken, b.pending, *version = b.pending, *taken, b.version
	return initial
}

// note changes the state, and wakes the program.
func (b *inbox[T]) note(change func()) {
	b.mu.Lock()
	change()
	b.mu.Unlock()
	b.wake()
}

// Begin implements typed.Follower.
func (b *inbox[T]) Begin(objects *index.Snapshot[T]) {
	b.note(func() { b.initial, b.version = objects, objects.ResourceVersion() })
}

// Step implements typed.Follower.
func (b *inbox[T]) Step(events []typed.Event[T], resourceVersion string) {
	b.note(func() {
		for i := range events {
			e := &events[i]
			if e.Type == index.Deleted {
				b.pending = append(b.pending, pair[T]{old: e.Old, reason: e.Reason})
			} else if !isNone(e.Old) || !isNone(e.New) {
				b.pending = append(b.pending, pair[T]{e.Old, e.New, e.Reason})
			}
		}
		if resourceVersion != "" {
			b.version = resourceVersion
		}
		if len(b.pending) > max(b.limit, minPending) {
			b.join()
			b.limit = 2 * len(b.pending)
		}
	})
}

// join makes one of several changes of an object, and none if it came and went, so that what
// waits is bounded by the number of objects.
func (b *inbox[T]) join() {
	joined, last := b.pending[:0], newPlaces[T]()
	for _, c := range b.pending {
		at, ok := last.get(c.old)
		if !ok || isNone(c.old) {
			at = uint32(len(joined))
			joined = append(joined, c)
		} else {
			last.remove(c.old)
			joined[at].now, joined[at].reason = c.now, c.reason
		}
		if !isNone(c.now) {
			last.put(c.now, at)
		}
	}
	joined = slices.DeleteFunc(joined, func(c pair[T]) bool { return isNone(c.old) && isNone(c.now) })
	clear(b.pending[len(joined):])
	b.pending = joined
}

// Synced implements typed.Follower.
func (b *inbox[T]) Synced() { b.note(func() { b.state.synced = true }) }

// Report implements typed.Follower.
func (b *inbox[T]) Report(err error) { b.note(func() { b.state.err = err }) }

// End implements typed.Follower.
func (b *inbox[T]) End(cause error) {
	b.note(func() { b.state.err = fmt.Errorf("input has ended: %w", cause) })
}

// inputLeaf is an informer or a Set, as a leaf.
type inputLeaf[T index.Object] struct {
	from followable[T]
	is   func(other followable[T]) bool // the same
}

// followable is what a feed needs.
type followable[T index.Object] interface {
	source.Derived
	Name() string
	Follow(f typed.Follower[T]) (unfollow func(), err error)
}

func (l inputLeaf[T]) inputName() string { return l.from.Name() }

func (l inputLeaf[T]) same(other leaf) bool {
	o, ok := other.(inputLeaf[T])
	return ok && l.is(o.from)
}

func (l inputLeaf[T]) derived() source.Derived { return l.from }
