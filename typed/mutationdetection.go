package typed

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/kubetyped/informer/index"
)

// detection is what WithMutationDetection was given.
type detection struct {
	period time.Duration
	report func(Mutation)
}

func newDetection(period time.Duration, report func(Mutation)) (*detection, error) {
	switch {
	case report == nil:
		return nil, errors.New("report function is nil")
	case period <= 0:
		return nil, fmt.Errorf("the period of mutation detection is %v, and has to be positive", period)
	}
	return &detection{period, report}, nil
}

// same reports whether two informers detect mutations alike.
func (d *detection) same(other *detection) bool {
	if d == nil || other == nil {
		return d == other
	}
	return d.period == other.period && sameFunction(d.report, other.report)
}

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
// deduplication (kube.WithoutSharing turns it off), a modified part is reported for every
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
func WithMutationDetection(period time.Duration, report func(Mutation)) Option {
	return func(c *config) (err error) {
		c.detection, err = newDetection(period, report)
		return err
	}
}

// checkDetected returns an error if mutations of objects of a type cannot be found.
func checkDetected[T index.Object]() error {
	if of := reflect.TypeFor[T](); !of.Comparable() {
		return fmt.Errorf("mutations of objects of type %v cannot be detected, as it has no ==: use pointers", of)
	}
	return nil
}

// DetectMutations enables mutation detection for an existing informer, like
// WithMutationDetection. It returns an error if an argument is invalid, the error of
// NewInformer's arguments, and ErrStarted after Run was called.
func (i *Informer[T]) DetectMutations(period time.Duration, report func(Mutation)) error {
	if err := i.check(); err != nil {
		return err
	}
	d, err := newDetection(period, report)
	if err = cmp.Or(err, checkDetected[T]()); err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Phase() != PhaseNew {
		return fmt.Errorf("informer %s: mutations are not detected: %w", i.name, ErrStarted)
	}
	i.detection = d
	return nil
}
