package queue

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// DeltaType is what a Delta asks for.
type DeltaType uint8

const (
	Put      DeltaType = iota + 1 // the object is there, new or in a new state
	Delete                        // the object was deleted
	Remove                        // the object, if any, left the watched selection
	Replace                       // the objects of a list are all that there are
	Bookmark                      // nothing else has changed up to the resource version
	Step                          // several changes belong together
)

// String returns the name of the type.
func (t DeltaType) String() string {
	names := [...]string{Put: "Put", Delete: "Delete", Remove: "Remove", Replace: "Replace", Bookmark: "Bookmark", Step: "Step"}
	if t < Put || t > Step {
		return "Unknown"
	}
	return names[t]
}

// Delta is one change that waits in a DeltaFIFO.
type Delta[T any] struct {
	Type   DeltaType
	Reason index.Reason // of a change, or of all that a list changes
	Object T            // of a Put, and the last state of a Delete, if that is known
	Key    *index.Key   // of a Remove, or of a Delete without an Object, and otherwise nil
	// List is the list of a Replace or the changes of a Step. A change has one only if it is
	// about the object of a UID. Otherwise it is nil.
	List *List[T]
	// ResourceVersion is the version that the change leads to, "" if it is not known.
	ResourceVersion string
}

// List is all objects that there are, or all of one namespace; or the changes of a Step.
type List[T any] struct {
	Namespace string // the one whose objects are listed, "" for all objects
	Objects   []T
	Kept      []index.Key // those whose state could not be used: what is known of them stays

	// Changes are those of a Step, each of them a Put, a Delete or a Remove, or else nil.
	Changes []Delta[T]
	// UID is that of the object that a Put, a Delete or a Remove is about. Such changes are
	// rare, and have this place so that all others are small.
	UID  *types.UID
	Part bool   // the changes of a Step are what differs in a list of a part of the objects
	Done func() // is called by the consumer when reads reflect a Step or a Replace, unless it is nil
}
