package queue

// DeltaType tells what a Delta asks for.
type DeltaType uint8

const (
	// Added: an object came into being.
	Added DeltaType = iota + 1
	// Updated: an object changed.
	Updated
	// Deleted: an object is gone; the delta has its last state.
	Deleted
	// Replaced: the objects of the delta are all that there are.
	Replaced
	// Bookmark: nothing changed up to the delta's resource version.
	Bookmark
	// Resync: all objects are to be looked at again.
	Resync
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
	default:
		return "Unknown"
	}
}

// Delta is one change that waits in a DeltaFIFO.
type Delta[T any] struct {
	Type DeltaType
	// Object is the object that was added, updated or deleted.
	Object T
	// Objects is the whole content, if Type is Replaced.
	Objects []T
	// ResourceVersion is the version that the change leads to, "" if that is
	// not known.
	ResourceVersion string
}
