package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// keySink is the Sink of one key. Its fields are guarded by the group's lock.
type keySink[T index.Object] struct {
	*group[T]
	entry   *entry[T]
	initial bool            // it was held at the start
	ctx     context.Context // ends when the key is released
	cancel  context.CancelFunc

	state       State              // the last one, which reads may not reflect yet
	removed     bool               // it is released
	finished    bool               // the source has nothing more to say
	listed      bool               // there was a list
	there       bool               // the object exists
	first       []source.Staged    // until the informer is synced
	outdated    bool               // the watch has changes to first
	unconfirmed []func()           // see Sink.Step; until the informer is synced
	version     string             // that its watch has reached, "" if not known
	err         error              // while it fails
	since       time.Time          // when err began
	below       time.Time          // when the first of the lists came that are too old
	least       string             // the floor when this attempt began, "" for none
	again       context.CancelFunc // ends this attempt to follow it, for another one; nil once it was called
}

// isOwn reports whether a key is that of the sink, and rejects another one.
func (k *keySink[T]) isOwn(key index.Key, version string, listed bool) bool {
	if key == k.entry.key {
		return true
	}
	k.sink.Report(&source.RejectedError{
		Key: key, ResourceVersion: version, Listed: listed,
		Err: fmt.Errorf("object came from the source of the object %s", k.entry.key),
	})
	return false
}

// keyOf returns the key of a change, the zero Key if it has no object.
func keyOf[T index.Object](c *index.Change[T]) index.Key {
	var none T
	switch {
	case c.Delete && c.Key != nil:
		return *c.Key
	case index.Same(c.Object, none):
		return index.Key{}
	}
	return index.KeyOf(c.Object)
}

// isOut reports whether nothing may be reported any more. The caller holds the lock.
func (k *keySink[T]) isOut() bool { return k.removed || k.over || k.again == nil }

// Change implements source.Sink.
func (k *keySink[T]) Change(c index.Change[T], version string) {
	k.Step([]index.Change[T]{c}, version, nil)
}

// Step implements source.Sink.
func (k *keySink[T]) Step(changes []index.Change[T], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		k.sink.Step(nil, "", nil) // versions have moved
		return
	}
	changes = slices.DeleteFunc(changes, func(c index.Change[T]) bool { return !k.isOwn(keyOf(&c), version, false) })
	if len(changes) == 0 && version == "" {
		k.confirm(done)
		return
	}
	defer k.calling.enter()()
	k.order.Lock()
	defer k.order.Unlock()
	if len(changes) > 0 {
		k.outdateEarly()
	}
	for !k.synced && !k.isOut() {
		k.changed.Wait()
	}
	if k.isOut() || version != "" && isOlder(version, k.version) {
		return
	}
	at := k.reach(version)
	if len(changes) == 0 {
		if at != "" || done != nil {
			k.sink.Step(nil, at, done)
		}
		k.setVersion()
		return
	}
	k.noteChanges(changes, version)
	k.sink.Step(changes, at, k.publishing(done))
	k.setVersion()
}

// noteChanges notes what is known after some changes. The caller holds the lock.
func (k *keySink[T]) noteChanges(changes []index.Change[T], version string) {
	for i := range changes {
		switch c := &changes[i]; {
		case c.UID != nil: // it may do nothing; the watch will bring it as well
		case c.Delete:
			k.there = false
			k.state = State{Phase: Absent, Version: version}
		default:
			k.there = true
			k.state = State{Phase: Present, Version: version}
		}
	}
}

// confirm has done called when reads reflect all that was reported before.
func (k *keySink[T]) confirm(done func()) {
	if done == nil {
		return
	}
	k.order.Lock()
	defer k.order.Unlock()
	switch {
	case k.isOut():
	case k.synced:
		k.sink.Step(nil, "", done)
	default:
		k.unconfirmed = append(k.unconfirmed, done)
	}
}

// reach notes the version of a report, and returns the one to pass on. The caller holds the
// lock.
func (k *keySink[T]) reach(version string) string {
	if version == "" {
		return ""
	}
	before := k.version
	k.version = version
	k.raise(version)
	if k.exact && before != k.group.version {
		return "" // others hold it back
	}
	return k.advance()
}

// setVersion publishes the version of the key, which the sink has by now. The caller holds
// the lock.
func (k *keySink[T]) setVersion() {
	k.mu.Lock()
	moved := k.entry.version != k.version
	k.entry.version = k.version
	k.mu.Unlock()
	if moved && k.version != k.group.version {
		k.sink.Step(nil, "", nil)
	}
}

// publish publishes the state when reads reflect all that was reported before. The caller
// holds the lock.
func (k *keySink[T]) publish() { k.sink.Step(nil, "", k.publishing(nil)) }

// publishing returns what is called when reads reflect the state as it is now. The caller
// holds the lock.
func (k *keySink[T]) publishing(also func()) (done func()) {
	state := k.state
	return func() {
		k.setState(k.entry, state)
		if also != nil {
			also()
		}
	}
}

// Stage implements source.Sink. It takes no lock.
func (k *keySink[T]) Stage(obj T, version string) source.Staged {
	var none T
	if !index.Same(obj, none) && !k.isOwn(index.KeyOf(obj), version, true) {
		return source.Reject(index.KeyOf(obj))
	}
	defer k.calling.enter()()
	return k.sink.Stage(obj, version)
}

// Replace implements source.Sink. A list of everything is to the source of a key that of the
// key.
func (k *keySink[T]) Replace(l source.List, version string) {
	defer k.flush()
	k.order.Lock()
	defer k.order.Unlock()
	if k.isOut() || !k.accepts(version) {
		return
	}
	k.works()
	was := k.there
	var items []source.Staged
	items, k.state = k.read(l, version)
	k.there = k.state.Phase == Present || len(items) > 0 || k.state.Phase == Refused && was
	k.listed, k.version = true, version
	k.raise(version)
	if !k.synced {
		k.first, k.outdated = items, false
		k.setEarly()
		k.syncIfAnswered()
		return
	}
	part := source.List{Part: true, Items: items, Reason: index.Relisted}
	if was && k.state.Phase == Absent {
		part.Gone = []index.Key{k.entry.key}
		if l.Leaves() {
			part.Reason = l.Reason
		}
	}
	k.sink.Replace(part, k.advance())
	k.setVersion()
	k.publish()
}

// read returns the items that a list has of the key, and the state that follows from it.
func (k *keySink[T]) read(l source.List, version string) (items []source.Staged, state State) {
	state = State{Phase: Absent, Version: version}
	if l.Part && len(l.Items) == 0 && !slices.Contains(l.Gone, k.entry.key) {
		return nil, k.state
	}
	for _, item := range l.Items {
		key, rejected := source.Rejected(item)
		switch {
		case rejected && (key == k.entry.key || key == index.Key{}):
			items = append(items, item)
			state = State{Phase: Refused, Version: version, Err: errUnusable, Since: time.Now()}
		case rejected:
			state = State{Phase: Refused, Version: version, Err: fmt.Errorf("%w: such as %s", errForeign, key), Since: time.Now()}
		case item.Key() == k.entry.key:
			return []source.Staged{item}, State{Phase: Present, Version: version}
		}
	}
	if state.Phase == Refused && k.there && k.state.Phase != Refused {
		state.Phase = k.state.Phase // the last state stays
	}
	return items, state
}

var (
	errUnusable = errors.New("the object exists, and cannot be used; see typed.Informer.Rejected")
	errForeign  = errors.New("the list by name has other objects; has the key to have a namespace?")
)

// Progress implements source.Sink.
func (k *keySink[T]) Progress(int, int) {}

// Decoding implements source.Sink.
func (k *keySink[T]) Decoding() source.Decoding[T] { return k.sink.Decoding() }

// Report implements source.Sink.
func (k *keySink[T]) Report(err error) {
	if rejected, ok := source.AsRejected(err); ok {
		k.reject(rejected)
		return
	}
	if waiting := (*source.WaitingError)(nil); errors.Is(err, source.ErrNotStreamed) || errors.As(err, &waiting) {
		k.sink.Report(&KeyError{k.entry.key, err}) // the key does not fail
		return
	}
	defer k.flush()
	k.order.Lock()
	defer k.order.Unlock()
	switch {
	case k.isOut():
	case err == nil && !k.listed: // of a streamed list, which may fail still
	case err == nil:
		k.works()
		if k.state.Err != nil && refuses(k.state.Err) {
			k.state.Err, k.state.Since = nil, time.Time{}
			k.publishIfSynced()
		}
	default:
		k.fails(err, refuses(err))
	}
}

// reject passes on that an object was rejected, and notes it of the object of the key. A rejection
// of a watch waits until the informer is synced, as changes do: the first list has earlier states.
func (k *keySink[T]) reject(rejected *source.RejectedError) {
	k.order.Lock()
	defer k.order.Unlock()
	own := rejected.Err != nil && !rejected.Listed && rejected.Key == k.entry.key
	if own && !k.isOut() {
		if k.state.Phase != Present {
			k.state.Phase = Refused
		}
		k.there = true
		k.state.Err, k.state.Since = rejected, time.Now()
		k.setEarly()
	}
	for watched := k.listed && !rejected.Listed && !rejected.Stands; watched && !k.synced && !k.isOut(); {
		k.changed.Wait()
	}
	if k.isOut() {
		return
	}
	k.sink.Report(rejected)
	if own {
		k.publishIfSynced()
	}
}

// works notes that the key does not fail. That is passed on when none does, and otherwise the
// failure of another one. The caller holds the lock, and calls flush.
func (k *keySink[T]) works() {
	failed := k.err != nil
	if failed {
		k.err = nil
		delete(k.failing, k)
		k.setFailure()
	}
	if len(k.failing) == 0 {
		k.group.pending.Add(nil)
		return
	}
	for _, other := range k.failing {
		if failed {
			k.group.pending.Add(other)
		}
		return
	}
}

// fails notes that the key fails, and whether the server refuses it. The caller holds the
// lock, and calls flush.
func (k *keySink[T]) fails(err error, refused bool) {
	if k.err == nil {
		k.since = time.Now()
	}
	k.err = err
	named := &KeyError{k.entry.key, err}
	k.failing[k] = named
	k.setFailure()
	k.group.pending.Add(named)
	since := k.since
	switch before := k.state.Err; {
	case !refused, before != nil && sameRefusal(before, err):
		return
	case before != nil && refuses(before):
		since = time.Now() // that it is refused for this reason
	}
	if !k.listed {
		k.state.Phase = Refused
	}
	k.state.Err, k.state.Since = err, since
	k.publishIfSynced()
	k.setEarly()
	k.syncIfAnswered()
}

// publishIfSynced publishes a state now, or when the informer syncs. The caller holds the
// lock.
func (k *keySink[T]) publishIfSynced() {
	if k.synced {
		k.publish()
	}
}

// setEarly keeps an answer for Get, until the informer is synced. The caller holds the lock.
func (k *keySink[T]) setEarly() {
	if k.synced || k.outdated {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entry.hear.Do(func() { close(k.entry.heard) })
	k.entry.early = &answer[T]{k.state, k.first}
}

// outdateEarly makes Get wait until the informer is synced, or the key is listed again, since
// the watch has changes that wait for that. The caller holds the lock.
func (k *keySink[T]) outdateEarly() {
	if k.synced {
		return
	}
	k.outdated = true
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entry.early = nil
}

// setFailure keeps the failure for Get. The caller holds the lock.
func (k *keySink[T]) setFailure() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entry.failure, k.entry.since = k.err, k.since
}
