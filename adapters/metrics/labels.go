package metrics

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// maxLabels is the most labels that a metric has.
const maxLabels = 5

// labels are the values of a metric's labels, as many as it has.
type labels [maxLabels]string

// labelled returns labels with these values: the same pointer for the same values, as long
// as each collection asks for them.
func (c *collection) labelled(values ...string) *labels {
	var l labels
	for i, value := range values {
		l[i] = valid(value)
	}
	return c.intern(l)
}

// with returns l, of which n are in use, with one more.
func (c *collection) with(l *labels, n int, value string) *labels {
	more := *l
	more[n] = valid(value)
	return c.intern(more)
}

func (c *collection) intern(l labels) *labels {
	p := c.counts.labels[l]
	if p == nil {
		if p = c.before.labels[l]; p == nil {
			p = new(l)
		}
		c.counts.labels[l] = p
	}
	return p
}

// valid returns a value as Prometheus' client takes it.
func valid(value string) string { return strings.ToValidUTF8(value, "\uFFFD") }

// shape is the names of a metric's labels. Metrics with the same names share it.
type shape struct {
	names []string
	order []int // of names, when they are sorted
}

func newShape(names []string) *shape {
	s := &shape{names: names, order: make([]int, len(names))}
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortFunc(s.order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	return s
}

// pairs are names and values of labels as Prometheus' client has them, which many metrics
// share.
type pairs map[shaped][]*dto.LabelPair

type shaped struct {
	shape  *shape
	labels *labels
}

// of returns the labels of a metric, sorted by name. They are not to be modified.
func (p pairs) of(s *shape, l *labels) []*dto.LabelPair {
	if list, ok := p[shaped{s, l}]; ok {
		return list
	}
	list := make([]*dto.LabelPair, len(s.names))
	for i, at := range s.order {
		list[i] = &dto.LabelPair{Name: &s.names[at], Value: &l[at]}
	}
	p[shaped{s, l}] = list
	return list
}
