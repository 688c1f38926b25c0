package view_test

import (
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/view"
)

// labeled is a thing of a value with labels.
func labeled(name string, value int, of labels.Set) *thing {
	return &thing{namespace: "ns", name: name, labels: of, value: value}
}

// TestSelectorsRequireSeveralLabels: what meets all requirements is joined, each once, whichever
// of them the fewest objects meet.
func TestSelectorsRequireSeveralLabels(t *testing.T) {
	all := view.NewSet(
		labeled("a", 1, labels.Set{"x": "0", "y": "0"}), labeled("b", 1, labels.Set{"x": "0", "y": "1"}),
		labeled("c", 1, labels.Set{"x": "1", "y": "0"}), labeled("d", 1, labels.Set{"x": "1", "y": "1"}),
		labeled("e", 1, labels.Set{"y": "0"}), labeled("f", 1, labels.Set{"y": "0"}), labeled("g", 1, labels.Set{"y": "1"}),
	)
	for text, want := range map[string]string{
		"x=0,y in (0,1)":        "ab", // two, seven
		"x in (0,1),y=0":        "ac", // four, four
		"x in (0,1),y=1":        "bd", // four, three
		"x in (0,1),y in (0,1)": "abcd",
		"x!=0,y=0":              "cef",
		"y in (0,1),!x":         "efg",
	} {
		t.Run(text, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				selector, err := labels.Parse(text)
				require.NoError(t, err)
				checkRows(t, start(t, view.JoinSelecting(named("all").View(), all.View(), func(*rig.Thing) labels.Selector { return selector },
					func(o *rig.Thing, with iter.Seq[*thing]) (row, bool) {
						names := ""
						for x := range with {
							names += x.name
						}
						return row{o.Name, names}, true
					})), "all="+want)
			})
		})
	}
}

// TestJoinSelectedByKeepsLabelsApart: objects that change, but not their labels, are joined by
// their own ones when a selector changes after that.
func TestJoinSelectedByKeepsLabelsApart(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		left := view.NewSet(labeled("a", 1, labels.Set{"x": "0"}), labeled("b", 1, labels.Set{"x": "1"}))
		selecting := func(name string, value int, x string) *thing {
			return &thing{namespace: "ns", name: name, selector: map[string]string{"x": x}, value: value}
		}
		right := view.NewSet(selecting("zero", 1, "0"), selecting("one", 1, "1"))
		informer := start(t, view.JoinSelectedBy(left.View(), right.View(), func(x *thing) labels.Selector { return labels.SelectorFromSet(x.selector) },
			func(x *thing, with iter.Seq[*thing]) (row, bool) { return row{x.name, values(with)}, true }))
		checkRows(t, informer, "a= ns/zero=1", "b= ns/one=1")
		left.Put(labeled("a", 2, labels.Set{"x": "0"}))
		synctest.Wait()
		left.Put(labeled("b", 2, labels.Set{"x": "1"}))
		synctest.Wait()
		right.Put(selecting("one", 2, "1"))
		checkRows(t, informer, "a= ns/zero=1", "b= ns/one=2")
	})
}
