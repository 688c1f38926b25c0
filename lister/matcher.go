package lister

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// matcher decides which labels a selector matches. Most selectors ask only for
// labels of certain values: those are compared here, one look-up each, without
// going through the selector's interfaces. All others decide for themselves.
type matcher struct {
	equal []labelValue
	other labels.Selector // nil: equal decides
}

type labelValue struct{ key, value string }

func newMatcher(selector labels.Selector) matcher {
	if selector == nil {
		return matcher{}
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return matcher{other: selector}
	}
	m := matcher{equal: make([]labelValue, 0, len(requirements))}
	for _, r := range requirements {
		values := r.ValuesUnsorted()
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if len(values) == 1 {
				m.equal = append(m.equal, labelValue{r.Key(), values[0]})
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
