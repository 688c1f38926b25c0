package lister

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubetyped/informer/index"
)

// matcher decides which labels a selector matches. Most selectors ask only for
// labels of certain values: those are compared here, one look-up each, without
// going through the selector's interfaces. All others decide for themselves,
// among them selectors that package labels did not make, which may match less
// than their requirements say.
type matcher struct {
	equal []labelValue    // no two are the same: as many labels an object needs
	other labels.Selector // nil: equal decides
}

type labelValue struct{ key, value string }

// ofRequirements is the type of the selectors that are their requirements, which
// is not exported.
var ofRequirements = reflect.TypeOf(labels.Everything())

func newMatcher(selector labels.Selector) matcher {
	if selector == nil || selector.Empty() {
		return matcher{}
	}
	if _, ofSet := selector.(labels.ValidatedSetSelector); !ofSet && reflect.TypeOf(selector) != ofRequirements {
		return matcher{other: selector}
	}
	requirements, _ := selector.Requirements()
	m := matcher{equal: make([]labelValue, 0, len(requirements))}
	for _, r := range requirements {
		values := r.ValuesUnsorted()
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if len(values) == 1 {
				if want := (labelValue{r.Key(), values[0]}); !slices.Contains(m.equal, want) {
					m.equal = append(m.equal, want)
				}
				continue
			}
		}
		return matcher{other: selector}
	}
	return m
}

func (m *matcher) matches(have map[string]string) bool {
	if m.other != nil {
		return m.other.Matches(labels.Set(have))
	}
	for _, want := range m.equal {
		if value, ok := have[want.key]; !ok || value != want.value {
			return false
		}
	}
	return true
}

// blockSize is how many objects are looked at together.
const blockSize = 64

// block matches objects a few at a time. In a large store almost every access
// to an object waits for memory; doing the same step for many objects, before
// the next step, lets the processor wait for many of them at once.
type block[T index.Labeled] struct {
	n       int
	objects [blockSize]T
	labels  [blockSize]map[string]string
}

// add takes an object, and reports whether the block is full.
func (b *block[T]) add(obj T) bool {
	b.objects[b.n] = obj
	b.n++
	return b.n == blockSize
}

// flush passes the objects that match to yield, in order, and empties the block. It reports
// whether to continue.
func (b *block[T]) flush(m *matcher, yield func(T) bool) bool {
	n := b.n
	b.n = 0
	for i, obj := range b.objects[:n] {
		b.labels[i] = obj.GetLabels()
	}
	enough := 0 // objects with at least as many labels as are asked for
	for i, have := range b.labels[:n] {
		if len(have) >= len(m.equal) {
			b.labels[enough], b.objects[enough] = have, b.objects[i]
			enough++
		}
	}
	for i, have := range b.labels[:enough] {
		if m.matches(have) && !yield(b.objects[i]) {
			return false
		}
	}
	return true
}
