package index

import "k8s.io/apimachinery/pkg/types"

// EventType is the effect of a change on the store.
type EventType uint8

const (
	// Added: there was no object of that key before.
	Added EventType = iota + 1
	// Updated: the object of that key was replaced by another one.
	Updated
	// Deleted: the object of that key is gone.
	Deleted
)

// String returns the name of the type.
func (t EventType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	default:
		return "Unknown"
	}
}

// Reason is the origin of a change: how the informer learned of it.
type Reason uint8

const (
	// Watched: the server reported the change in a watch.
	Watched Reason = iota + 1
	// Initial: the object was there when the store was first filled, or when a
	// late handler joined.
	Initial
	// Relisted: the change was found by comparing a later list with the store.
	// What happened in between, and when, is not known.
	Relisted
	// Resynced: nothing changed, the handler asked to see every object again.
	Resynced
	// Recreated: the object was replaced by another of the same key, and the store reports
	// that as a deletion and an addition, see WithRecreated.
	Recreated
	// OutOfScope: the object may still exist, but is not among what is watched
	// any more: its namespace was removed, or a filter does not let it through.
	OutOfScope
	// Acquired: the object was there before, but came among what is watched only now:
	// another process has handed it over, or its cluster has joined.
	Acquired
	// Released: the object still exists for all that is known, and is not deleted:
	// another process watches it from now on, or its cluster has left.
	Released
)

// String returns the name of the reason.
func (r Reason) String() string {
	switch r {
	case Watched:
		return "Watched"
	case Initial:
		return "Initial"
	case Relisted:
		return "Relisted"
	case Resynced:
		return "Resynced"
	case Recreated:
		return "Recreated"
	case OutOfScope:
		return "OutOfScope"
	case Acquired:
		return "Acquired"
	case Released:
		return "Released"
	default:
		return "Unknown"
	}
}

// Event is one change of the store, with the state before and after it. The store and all
// receivers of the event share the objects: do not modify them.
type Event[T Object] struct {
	Type   EventType
	Reason Reason

	// Old is the object that the store held before: the zero T if Type is
	// Added, or if what was deleted was not there (see WithLiteralEvents), and
	// the same as New if Reason is Resynced.
	Old T

	// New is the object that the store holds now. If Type is Deleted it is the
	// last known state: what the server sent with the deletion if it was
	// watched, Old otherwise.
	New T
}

// Key returns the key of the object.
func (e Event[T]) Key() Key { return KeyOf(e.New) }

// Change is one write to the store, as the input of Indexer.Apply.
type Change[T Object] struct {
	// Delete removes the object of this key, if it is there.
	// Otherwise the object is added, or replaces the one of its key.
	Delete bool
	// Reason is passed on to the event.
	Reason Reason
	// Object is the object to store, or the last state of the one to remove.
	Object T
	// Key, if not nil, is the key of the object to remove; Object is then ignored, and
	// the event has the stored object as the last state. Without Delete, Key is
	// ignored: an object is always stored under its own.
	Key *Key
	// UID, if not nil, makes the change count only if the object of its key that is there now
	// has this UID, so that what is about one object does nothing to another of the same
	// name. Otherwise only the version of Apply counts. The UID is that of the object's
	// method GetUID; an object without the method has none.
	UID *types.UID
}

// key returns the key of the object that is written.
func (c *Change[T]) key() Key {
	if c.Delete && c.Key != nil {
		return *c.Key
	}
	return KeyOf(c.Object)
}
