package queue

// DeltaType tells what a Delta asks for.
type DeltaType uint8

const (
	// Added: an object came into being.
	Added DeltaType = iota + 1
	// Updated: an object changed.
	Updated
	// Deleted: an object is gone; the delta has its last state, or, if that is not
	// known, a scope.
	Deleted
	// Replaced: the objects of the delta are all that there are.
	Replaced
	// Bookmark: nothing changed up to the delta's resource version.
	Bookmark
	// Resync: all objects are to be looked at again.
	Resync
	// Removed: the object of the delta's scope, if there is one, is outside of
	// what is watched now.
	Removed
	// NamespaceReplaced: the objects of the delta are all that there are in the
	// namespace of its scope.
	NamespaceReplaced
	// NamespaceRemoved: all objects of the namespace of the delta's scope are
	// outside of what is watched now.
	NamespaceRemoved
	// Kept: the object of the delta's scope exists, in a state that could not be
	// used. The Replaced or NamespaceReplaced that follows leaves it as it is.
	Kept
)

// String returns the name of the type.
func (t DeltaType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	case Replaced:
		return "Replaced"
	case Bookmark:
		return "Bookmark"
	case Resync:
		return "Resync"
	case Removed:
		return "Removed"
	case NamespaceReplaced:
		return "NamespaceReplaced"
	case NamespaceRemoved:
		return "NamespaceRemoved"
	case Kept:
		return "Kept"
	default:
		return "Unknown"
	}
}

// Delta is one change that waits in a DeltaFIFO.
type Delta[T any] struct {
	Type DeltaType
	// Object is the object that was added, updated or deleted.
	Object T
	// Objects is the whole content, if Type is Replaced, or that of a namespace,
	// if it is NamespaceReplaced.
	Objects []T
	// Scope is what a Removed, NamespaceReplaced, NamespaceRemoved or Kept is about,
	// or a Deleted without an Object; otherwise nil.
	Scope *Scope
	// ResourceVersion is the version that the change leads to, "" if that is
	// not known.
	ResourceVersion string
}

// Scope names one object, or, without a name, all objects of a namespace.
type Scope struct{ Namespace, Name string }
