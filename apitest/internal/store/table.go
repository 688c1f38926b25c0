package store

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// recent is how many of a table's last events keep their encoded bytes.
const recent = 1024

// Table holds the objects of one resource. Make one with Store.Table.
//
// A key is the object's path: "name", or "namespace/name". Keys are ordered
// bytewise, as in etcd.
type Table struct {
	store *Store

	// All below are guarded by store.mu.

	chains    map[string]*chain
	sorted    []*chain      // the same, by key
	count     int           // of objects that exist
	events    []*Event      // history, by revision
	base      int           // position of events[0], counted from the first event ever
	compacted uint64        // revisions before it cannot be read
	changed   chan struct{} // closed at the next event; nil if no cursor waits
}

// Get returns the present state of a key, nil when it does not exist, and the
// revision of the read.
func (t *Table) Get(key string) (*Version, uint64) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if c, ok := t.chains[key]; ok {
		return c.live(), t.store.revision
	}
	return nil, t.store.revision
}

// At returns the state of a key as of a revision, nil when it did not exist. It
// returns ErrCompacted for a revision that it cannot read.
func (t *Table) At(key string, revision uint64) (*Version, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if revision < t.compacted {
		return nil, ErrCompacted
	}
	if c, ok := t.chains[key]; ok {
		return c.at(revision), nil
	}
	return nil, nil
}

// Len returns the number of objects that exist.
func (t *Table) Len() int {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.count
}

// List returns the state of every key with the prefix and not before start, in
// order, as of the revision, and the revision itself. Revision 0 is the present.
// It returns ErrCompacted or ErrFuture for revisions it cannot read.
func (t *Table) List(prefix, start string, revision uint64) ([]*Version, uint64, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if revision == 0 {
		revision = t.store.revision
	}
	switch {
	case revision > t.store.revision:
		return nil, t.store.revision, ErrFuture
	case revision < t.compacted:
		return nil, t.store.revision, ErrCompacted
	}
	return t.read(prefix, max(prefix, start), revision), revision, nil
}

func (t *Table) read(prefix, start string, revision uint64) []*Version {
	var found []*Version
	if prefix == "" && start == "" {
		found = make([]*Version, 0, t.count)
	}
	from, _ := t.search(start)
	for _, c := range t.sorted[from:] {
		if !strings.HasPrefix(c.key, prefix) {
			break
		}
		if v := c.at(revision); v != nil {
			found = append(found, v)
		}
	}
	return found
}

// Put writes obj under the key if the present state still is from (nil: the key
// does not exist), and returns the new version. It stamps obj with the resource
// version and owns it from then on. It returns ErrChanged otherwise.
func (t *Table) Put(key string, from *Version, obj runtime.Object) (*Version, error) {
	return t.write(key, from, &Version{Object: obj})
}

// Delete removes the key if the present state still is from, and returns the
// tombstone. It returns ErrChanged otherwise.
func (t *Table) Delete(key string, from *Version) (*Version, error) {
	return t.write(key, from, &Version{Object: from.Object.DeepCopyObject(), Deleted: true})
}

func (t *Table) write(key string, from, to *Version) (*Version, error) {
	accessor, err := meta.Accessor(to.Object)
	if err != nil {
		return nil, err
	}
	complete(to.Object)
	t.store.mu.Lock()
	defer t.store.mu.Unlock()

	c, known := t.chains[key]
	var present *Version
	if known {
		present = c.live()
	}
	if present != from {
		return nil, ErrChanged
	}
	t.store.revision++
	to.Revision = t.store.revision
	accessor.SetResourceVersion(strconv.FormatUint(to.Revision, 10))

	if !known {
		c = &chain{key: key}
		t.chains[key] = c
		at, _ := t.search(key)
		t.sorted = slices.Insert(t.sorted, at, c)
	}
	c.versions = append(c.versions, to)
	t.append(&Event{Type: kindOf(from, to), Current: to, Previous: from}, key)
	return to, nil
}

func kindOf(from, to *Version) watch.EventType {
	switch {
	case to.Deleted:
		return watch.Deleted
	case from == nil:
		return watch.Added
	default:
		return watch.Modified
	}
}

func (t *Table) append(e *Event, key string) {
	switch e.Type {
	case watch.Added:
		t.count++
	case watch.Deleted:
		t.count--
	}
	e.key = key
	t.events = append(t.events, e)
	if old := len(t.events) - 1 - recent; old >= 0 {
		t.events[old].retire()
	}
	if len(t.events) > t.store.limit {
		t.compact(t.events[len(t.events)/2].Revision())
	}
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	if t.store.changed != nil {
		close(t.store.changed)
		t.store.changed = nil
	}
}

// compact drops the events up to revision and the versions only they need.
func (t *Table) compact(revision uint64) {
	drop := upTo(t.events, revision)
	gone := false
	for _, e := range t.events[:drop] {
		if c, ok := t.chains[e.key]; ok && c.compact(revision) {
			delete(t.chains, e.key)
			gone = true
		}
	}
	if gone {
		t.sorted = slices.DeleteFunc(t.sorted, func(c *chain) bool { return len(c.versions) == 0 })
	}
	t.events = slices.Clone(t.events[drop:])
	t.base += drop
	t.compacted = max(t.compacted, revision)
}

func (t *Table) search(key string) (int, bool) {
	return slices.BinarySearchFunc(t.sorted, key, func(c *chain, key string) int {
		return strings.Compare(c.key, key)
	})
}
