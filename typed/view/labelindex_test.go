package view

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
)

// TestLabelIndex compares what selectors find with all objects, after steps in which objects come
// and go, also several times.
func TestLabelIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := rapid.SampledFrom([]string{"a", "b"})
		objects := map[uint32]labels.Set{}
		x := labelIndex{
			each: func(f func(uint32)) {
				for number := range objects {
					f(number)
				}
			},
			of:      func(number uint32) (string, labels.Set) { return "ns", objects[number] },
			compare: cmp.Compare[uint32],
		}
		change := func(number uint32, to labels.Set) {
			old, was := objects[number]
			delete(objects, number)
			if to != nil {
				objects[number] = to
			}
			x.change(number, labeledState{was, "ns", old}, labeledState{to != nil, "ns", to}, false)
		}
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			for range rapid.IntRange(0, 40).Draw(t, "changes") {
				var to labels.Set
				if rapid.Bool().Draw(t, "there") {
					to = labels.Set{"app": app.Draw(t, "app")}
				}
				change(rapid.Uint32Range(0, 20).Draw(t, "number"), to)
			}
			x.tidy()
			for _, value := range []string{"a", "b"} {
				var want []uint32
				for number, set := range objects {
					if set["app"] == value {
						want = append(want, number)
					}
				}
				slices.Sort(want)
				got := slices.Clone(x.inOrder("ns", labels.SelectorFromSet(labels.Set{"app": value})))
				require.Equal(t, want, got)
			}
		}
	})
}
