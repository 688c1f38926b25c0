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

// Labels returns an index over the values of the labels with the given keys. In addition to
// lookups, it serves Reader.Candidates, and so listers: if a selector has a requirement for
// one of the keys (equality, a set, or presence, or none of these), they range only over
// objects that meet it.
//
// Its name is "labels(a,b)" for the keys a and b, in whatever order. At least one key
// is needed.
func Labels[T Labeled](keys ...string) *Index[Label, T] {
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	x := newIndex[Label, T]("labels("+strings.Join(sorted, ",")+")", nil)
	x.labels, x.term = sorted, labelTerm[T]
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

// Needs returns the fields of objects that the index reads, named as in JSON, as far as that is
// known: those of Labels.
func (x *Index[K, T]) Needs() []string {
	if len(x.labels) == 0 {
		return nil
	}
	return []string{"metadata.labels"}
}

// labelTerm implements Definition: only indexes made by Labels have such terms. They come from a
// function that Labels sets. With a conversion of x to *Index[Label, T] here, every program would
// compile and link the indexes of labels.
func (x *Index[K, T]) labelTerm(r labels.Requirement) (Term[T], bool) {
	if !slices.Contains(x.labels, r.Key()) {
		return nil, false
	}
	return x.term(x, r)
}

// labelTerm returns the term of an index of labels that stands for r, whose key it has.
func labelTerm[T Object](x *Index[Label, T], r labels.Requirement) (Term[T], bool) {
	hasLabel := func(l Label) bool { return l.Key == r.Key() }
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		return x.Is(valuesOf(r)...), true
	case selection.NotEquals, selection.NotIn:
		return Not(x.Is(valuesOf(r)...)), true
	case selection.Exists:
		return x.Where(hasLabel), true
	case selection.DoesNotExist:
		return Not(x.Where(hasLabel)), true
	}
	return nil, false
}

// valuesOf returns the labels that r lists.
func valuesOf(r labels.Requirement) []Label {
	values := r.ValuesUnsorted()
	list := make([]Label, len(values))
	for i, value := range values {
		list[i] = Label{r.Key(), value}
	}
	return list
}

// requirementsOf returns what a selector asks for, false if nothing can match. A nil
// selector asks for nothing.
func requirementsOf(selector labels.Selector) (labels.Requirements, bool) {
	if selector == nil {
		return nil, true
	}
	return selector.Requirements()
}

// candidateTerms returns what indexes know about a namespace, "" for all, and about
// requirements.
func candidateTerms[T Object](namespaces *Index[string, T], indexes []Definition[T], namespace string, requirements labels.Requirements) []Term[T] {
	var terms []Term[T]
	if namespace != "" {
		terms = append(terms, namespaces.Is(namespace))
	}
	for _, requirement := range requirements {
		for _, index := range indexes {
			if term, ok := index.labelTerm(requirement); ok {
				terms = append(terms, term)
				break
			}
		}
	}
	return terms
}
