package observe

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
)

// WithMutationDetection finds modifications of objects in the store, which all readers share
// and must not modify. After each period, the objects are compared with their state at
// arrival; replaced and deleted ones are compared once more. report is called once for each
// modified object, until it is deleted, with which object, which fields, and their values
// before and after.
//
// It finds labels that were changed, slices that were sorted, and whatever else is in an
// object or behind its pointers, also in fields that are not exported. It does not find what
// was modified and changed back, nor writes to an object that was replaced long ago. Objects
// that were put into an indexer of WithIndexer by its owner are not looked at. The race
// detector and Go's maps report a write during the comparison, as with any other reader. With
// deduplication (kube.WithoutDeduplication turns it off), a modified part is reported for every
// object that contains it.
//
// report is called by a goroutine of the informer, for one mutation after the other;
// that ends with Run. A panic of report is reported by utilruntime.HandleCrash.
//
// It is made to be left on in a staging cluster. An object is on record as one piece of bytes,
// which the garbage collector need not look into: 5 KB for a Pod of 16 KB. To record a Pod
// takes twice as long as to copy it, about 25 µs, which every change of an object costs the
// informer's goroutine; to compare it takes as long again, and less than reflect.DeepEqual
// does. So 20,000 Pods that are compared each minute take 100 MB and about one percent of a
// processor. Objects that were replaced are kept in memory until they have been compared; if
// they are many, as many as are in the store and 1,024, that is at once.
func WithMutationDetection(period time.Duration, report func(Mutation)) typed.Option {
	return typed.WithObserver(&detection{period, report})
}

// Mutation is a modification of an object in an informer's store, which all other readers see,
// too. See WithMutationDetection.
type Mutation struct {
	// Informer is the name of the informer.
	Informer string
	// Key is the object's, as it was when the object came.
	Key index.Key
	// ResourceVersion is the version that the object came with, if it has one.
	ResourceVersion string
	// Fields are what was modified, the first 16 if there are more; at least one.
	Fields []ModifiedField
}

// ModifiedField is a field that was modified.
type ModifiedField struct {
	// Path is the field's, by names as in JSON, with indexes and keys in brackets:
	// metadata.labels[app] or spec.containers[0].image.
	Path string
	// Old and New are the received value and the value found, as text of up to about 200
	// bytes: strings in quotes, "nil", and "none" for what a map has not.
	Old, New string
}

// String returns all of it in a line, such as
//
//	informer pods: object shop/web-0 was modified: metadata.labels[app] was "web", is "mine"
func (m Mutation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "informer %s: object %s was modified: ", m.Informer, m.Key)
	for i, f := range m.Fields {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s was %s, is %s", f.Path, f.Old, f.New)
	}
	return b.String()
}

// detection is what WithMutationDetection was given.
type detection struct {
	period time.Duration
	report func(Mutation)
}

func (d *detection) Observe(o observer.Observed) (observer.Hooks, error) {
	switch of := o.Type(); {
	case d.report == nil:
		return observer.Hooks{}, errors.New("report function is nil")
	case d.period <= 0:
		return observer.Hooks{}, fmt.Errorf("the period of mutation detection is %v, and has to be positive", d.period)
	case !of.Comparable():
		return observer.Hooks{}, fmt.Errorf("mutations of objects of type %v cannot be detected, as it has no ==: use pointers", of)
	}
	found := newDetector(o, d)
	return observer.Hooks{Run: found.run, Storing: found.storing, Released: found.forget}, nil
}

func (d *detection) Option() string { return "WithMutationDetection" }
func (d *detection) Alone() bool    { return false }
func (d *detection) After(earlier observer.Observer) observer.Observer {
	return observer.Latest(d, earlier)
}

func (d *detection) Same(other observer.Observer) bool {
	o, ok := other.(*detection)
	return ok && d.period == o.period && observer.SameFunction(d.report, o.report)
}
