package answers

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/ownwrites"
	"github.com/kubetyped/informer/typed/source"
)

// Change implements source.Sink.
func (f *Follower[T]) Change(c index.Change[T], version string) {
	var none T
	key, uid := c.Key, c.UID
	if key == nil && !index.Same(c.Object, none) {
		at, of := index.KeyOf(c.Object), uidOf(c.Object)
		key, uid = &at, &of
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ordered := f.reaches(version)
	if !ordered || key == nil {
		f.To.Change(c, version)
		return
	}
	if uid == nil {
		uid = new(types.UID)
	}
	verdict, gone := f.filter.Watched(*key, *uid, c.Delete, at, f.now())
	f.caughtUp()
	f.leave(gone)
	switch verdict {
	case ownwrites.Pass:
		f.To.Change(c, version)
	case ownwrites.Gone: // by its key, as sinks have no event then if they do not have it
		at := *key
		f.To.Change(index.Change[T]{Delete: true, Key: &at}, version)
	default:
		f.To.Step(nil, version, nil)
	}
}

// Step implements source.Sink. A Reflector has no changes that belong together, only versions.
func (f *Follower[T]) Step(changes []index.Change[T], version string, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ordered := f.reaches(version); ordered && len(changes) == 0 {
		gone := f.filter.Bookmark(at, f.now())
		f.caughtUp()
		f.leave(gone)
	}
	f.To.Step(changes, version, done)
}

// Report implements source.Sink. An object that a watch rejects is reported unless there
// is a later state of it.
func (f *Follower[T]) Report(err error) {
	rejected, ok := source.AsRejected(err)
	if !ok || rejected.Listed || rejected.Err == nil {
		f.To.Report(err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ordered := f.reaches(rejected.ResourceVersion); ordered {
		verdict, gone := f.filter.Watched(rejected.Key, "", false, at, f.now())
		f.caughtUp()
		f.leave(gone)
		if verdict != ownwrites.Pass {
			return
		}
	}
	f.To.Report(err)
}

// reaches returns the number of a version that the watch has come to, false if it has none
// that counts. The caller holds mu.
func (f *Follower[T]) reaches(version string) (at uint64, ordered bool) {
	if f.off != "" || version == "" {
		return 0, false
	}
	if at, ordered = versionOf(version); !ordered {
		f.stop(Version)
	}
	return at, ordered
}

// stop has nothing taken until the next list, for the reason. The caller holds mu.
func (f *Follower[T]) stop(reason Reason) {
	f.off = reason
	f.filter = ownwrites.Filter[T]{}
	f.count()
}

// now returns the time, if it matters. The caller holds mu.
func (f *Follower[T]) now() time.Time {
	if !f.filter.Remembers() {
		return time.Time{}
	}
	return time.Now()
}

// caughtUp counts the writes that the watch has not reached yet. It is called before the sink gets
// what the watch reports, so that a caller who waited for that version never finds the store ahead
// of it. The caller holds mu.
func (f *Follower[T]) caughtUp() {
	if f.keys.Load() > 0 {
		f.count()
	}
	if f.filter.Relist() && f.config.Relist != nil {
		f.config.Relist()
	}
}

// stagedItem is an object of a list, with its key and UID, which the sink does not return.
type stagedItem struct {
	source.Staged
	key index.Key
	uid types.UID
}

// Stage implements source.Sink.
func (f *Follower[T]) Stage(obj T, version string) source.Staged {
	var none T
	staged := f.To.Stage(obj, version)
	if index.Same(obj, none) {
		return staged
	}
	return &stagedItem{staged, index.KeyOf(obj), uidOf(obj)}
}

// Replace implements source.Sink.
func (f *Follower[T]) Replace(l source.List, version string) {
	if f.of.Load() == nil {
		f.fail(errUnmarked)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ordered := versionOf(version)
	switch {
	case ordered:
		f.off = ""
		f.filter.List(at, f.unbound.Load())
		f.merge(&l)
		f.count()
	case version == "" || version == "0":
		f.stop(Unordered)
	default:
		f.stop(Version)
	}
	for i, item := range l.Items {
		if own, ok := item.(*stagedItem); ok {
			l.Items[i] = own.Staged
		}
	}
	if f.live.Load() {
		f.To.Replace(l, version)
		return
	}
	done := l.Done
	l.Done = func() { // before the informer is synced
		f.live.Store(true)
		if done != nil {
			done()
		}
	}
	f.To.Replace(l, version)
	f.To.Step(nil, "", func() { f.live.Store(true) }) // Done is not called for each list
}

// merge brings what was answered after the version of a list into it. The caller holds mu.
func (f *Follower[T]) merge(l *source.List) {
	if !f.filter.Remembers() {
		return
	}
	listed := make(map[index.Key]bool, len(l.Items))
	items := l.Items[:0]
	for _, item := range l.Items {
		key, uid := item.Key(), types.UID("")
		if own, ok := item.(*stagedItem); ok {
			key, uid = own.key, own.uid
		}
		listed[key] = true
		verdict, s := f.filter.Item(key, uid)
		switch verdict {
		case ownwrites.Pass:
			items = append(items, item)
		case ownwrites.Put:
			items = append(items, f.To.Stage(s.Object, ""))
		}
	}
	for _, s := range f.filter.Rest(func(key index.Key) bool { return listed[key] }) {
		items = append(items, f.To.Stage(s.Object, ""))
	}
	l.Items = items
}
