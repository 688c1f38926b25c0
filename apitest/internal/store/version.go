package store

import (
	"math"

	"k8s.io/apimachinery/pkg/runtime"
)

// Version is one state of one object. It is immutable.
type Version struct {
	// Revision is the value of the global counter at the write that made it.
	Revision uint64
	// Object carries Revision as its resource version. In a tombstone it is the
	// last state, stamped with the revision of the deletion.
	Object runtime.Object
	// Deleted marks a tombstone.
	Deleted bool
}

// complete makes an object store what encoding it would store in it, such as the text of a
// quantity: once the object is shared, several goroutines encode it at once.
func complete(obj runtime.Object) {
	if o, ok := obj.(interface{ Size() int }); ok { // of generated code for protobuf
		o.Size()
	}
}

// chain is all retained versions of one key, oldest first, never empty.
// It is guarded by the store's lock.
type chain struct {
	key      string
	versions []*Version
}

// live returns the present state, nil when the object does not exist.
func (c *chain) live() *Version { return c.at(math.MaxUint64) }

// at returns the state as of revision, nil when the object did not exist then.
func (c *chain) at(revision uint64) *Version {
	for i := len(c.versions) - 1; i >= 0; i-- {
		if v := c.versions[i]; v.Revision <= revision {
			if v.Deleted {
				return nil
			}
			return v
		}
	}
	return nil
}

// compact forgets the versions that only reads before revision could see, and reports whether
// nothing is left of the key.
func (c *chain) compact(revision uint64) (empty bool) {
	keep := 0
	for keep+1 < len(c.versions) && c.versions[keep+1].Revision <= revision {
		keep++
	}
	if v := c.versions[keep]; v.Deleted && v.Revision <= revision {
		keep++
	}
	if keep > 0 {
		// A copy, so that the array does not keep the dropped ones alive.
		c.versions = append([]*Version(nil), c.versions[keep:]...)
	}
	return len(c.versions) == 0
}
