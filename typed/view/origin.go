package view

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// origin is an informer from which objects are passed on, with the fields that they have
// there: what its source leaves out, they lack in each view that does.
type origin struct {
	name     string
	omits    func(field string) bool // nil: not known
	selected atomic.Bool             // objects are selected by their labels
}

// labelsField is what selectors read.
const labelsField = "metadata.labels"

// passOn makes a view have the origins of another one, if the objects are of one type. As with
// source.Map, a function that makes an object of one is expected to add no field.
func passOn[A, B index.Object](in *View[A], v *View[B]) *View[B] {
	if _, same := any(in).(*View[B]); same && in.defined() != nil {
		v.origins = append(v.origins, in.origins...)
	}
	return v
}

// needLabels notes that objects are selected by their labels. It returns an error if a selector
// would match nothing, since they are known to have none; if that becomes known later, it is an
// error of the informer that has them.
func (d *definition) needLabels() error {
	if d == nil {
		return nil
	}
	for _, from := range d.origins {
		from.selected.Store(true)
		if from.omits != nil && from.omits(labelsField) {
			return fmt.Errorf("view selects objects of %s by labels, which the source of that informer omits: add %s to kube.WithFields", from.name, labelsField)
		}
	}
	return nil
}

// Omits implements source.Partial: objects lack what those do that the view passes on.
func (v *View[T]) Omits(field string) bool {
	return v != nil && v.definition != nil && slices.ContainsFunc(v.origins, func(from *origin) bool { return from.omits != nil && from.omits(field) })
}

// needs returns the fields of an input that are read: by views, or in the objects that they
// pass on. It may be called by any goroutine.
func (p *program) needs(of []*origin) (fields []string) {
	for _, from := range of {
		if from.selected.Load() {
			fields = append(fields, labelsField)
		}
		if slices.Contains(p.passed, from) {
			fields = append(fields, p.readOfThose()...)
		}
	}
	return fields
}

// Needs returns the fields that are read of the followed informer's objects, see typed.Needs.
func (b *inbox[T]) Needs() []string { return b.needs() }
