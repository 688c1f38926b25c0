package index

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Label is a label of an object, the key type of indexes made by Labels.
type Label struct{ Key, Value string }

// Labeled is an Object that has labels.
type Labeled interface {
	Object

	GetLabels() map[string]string
}

// Labels returns an index over the values of the labels with the given keys.
// Beside the look-ups that every index has, it serves Reader.Candidates, and
// so listers: a selector that asks for equality or set membership on one of
// the keys ranges over the objects that have such a label, and no others.
//
// Its name is "labels(a,b)" for the keys a and b. At least one key is needed.
func Labels[T Labeled](keys ...string) *Index[Label, T] {
	x := &Index[Label, T]{
		name:   "labels(" + strings.Join(keys, ",") + ")",
		labels: slices.Compact(slices.Sorted(slices.Values(keys))),
		posts:  newPostings[Label](),
	}
	if len(keys) > 0 {
		x.keys = func(dst []Label, obj T) []Label {
			have := obj.GetLabels()
			for _, key := range x.labels {
				if value, ok := have[key]; ok {
					dst = append(dst, Label{key, value})
				}
			}
			return dst
		}
	}
	return x
}

// labelTerm returns the term that stands for r, if x is an index of labels
// that has r's key and r lists the values that it allows.
func (x *Index[K, T]) labelTerm(r labels.Requirement) (Term[T], bool) {
	ofLabels, ok := any(x).(*Index[Label, T])
	if !ok || !slices.Contains(ofLabels.labels, r.Key()) {
		return nil, false
	}
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		values := r.ValuesUnsorted()
		keys := make([]Label, len(values))
		for i, value := range values {
			keys[i] = Label{r.Key(), value}
		}
		return ofLabels.Is(keys...), true
	}
	return nil, false
}

// candidateTerms returns what the indexes know about a namespace, "" for all,
// and a selector, false if nothing can match.
func candidateTerms[T Object](namespaces *Index[string, T], handles []Handle[T], namespace string, selector labels.Selector) ([]Term[T], bool) {
	var terms []Term[T]
	if namespace != "" {
		terms = append(terms, namespaces.Is(namespace))
	}
	if selector == nil {
		return terms, true
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil, false
	}
	for _, requirement := range requirements {
		for _, handle := range handles {
			if term, ok := handle.labelTerm(requirement); ok {
				terms = append(terms, term)
				break
			}
		}
	}
	return terms, true
}
