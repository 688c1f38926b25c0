package view_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/view"
)

// recorder is metrics that record their calls.
type recorder struct{ calls []string }

func (m *recorder) Computed(view string, objects int, took time.Duration) {
	m.calls = append(m.calls, fmt.Sprint(view, " ", objects, " ", took))
}

// TestMetrics: views report how many objects they have computed in each step, and how long that
// took, if there were some.
func TestMetrics(t *testing.T) {
	for name, of := range map[string]func(in *view.View[*rig.Thing], opts ...view.Option) *view.View[row]{
		"Map": func(in *view.View[*rig.Thing], opts ...view.Option) *view.View[row] {
			return view.Map(in, slowly, opts...)
		},
		"FlatMap": func(in *view.View[*rig.Thing], opts ...view.Option) *view.View[row] {
			return view.FlatMap(in, func(o *rig.Thing) []row { return []row{slowly(o)} }, opts...)
		},
		"Group": func(in *view.View[*rig.Thing], opts ...view.Option) *view.View[row] {
			return view.Group(in, byName, func(_ string, all iter.Seq[*rig.Thing]) (r row, ok bool) {
				for o := range all {
					return slowly(o), true
				}
				return r, false
			}, opts...)
		},
		"Reduce": func(in *view.View[*rig.Thing], opts ...view.Option) *view.View[row] {
			return view.Reduce(in, byName, view.Fold[*rig.Thing, int]{
				Add: func(n *int, o *rig.Thing) { *n += o.Version }, Remove: func(n *int, o *rig.Thing) { *n -= o.Version },
			}, func(key string, n *int, _ int) (row, bool) {
				time.Sleep(time.Second)
				return row{key, fmt.Sprint(*n)}, true
			}, opts...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				set, m := named("a", "b", "c"), &recorder{}
				informer := start(t, of(set.View(), view.WithMetrics(m), view.WithName("results")))
				time.Sleep(time.Minute)
				set.Put(rig.On("x", rig.At("a", 2)))
				time.Sleep(time.Minute)
				checkRows(t, informer, "a=2", "b=1", "c=1")
				assert.Equal(t, []string{"results 3 3s", "results 1 1s"}, m.calls)
			})
		})
	}
}

func slowly(o *rig.Thing) row {
	time.Sleep(time.Second)
	return row{o.Name, fmt.Sprint(o.Version)}
}
