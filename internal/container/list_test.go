package container

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type value struct {
	node Node[value]
	is   int
}

func newValue(is int) *value {
	v := &value{is: is}
	v.node.Of = v
	return v
}

// TestListModel compares a list with a slice, from both ends.
func TestListModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l List[value]
		var want []*value
		t.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				v := newValue(len(want))
				l.Append(&v.node)
				want = append(want, v)
			},
			"remove": func(t *rapid.T) {
				if len(want) == 0 {
					return // empty
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				v := want[i]
				l.Remove(&v.node)
				want = slices.Delete(want, i, i+1)
				require.Equal(t, Node[value]{Of: v}, v.node, "it refers to nothing of the list")
			},
			"": func(t *rapid.T) {
				var there, back []*value
				for n := l.First; n != nil; n = n.Next {
					there = append(there, n.Of)
				}
				for n := l.Last; n != nil; n = n.Prev {
					back = append(back, n.Of)
				}
				slices.Reverse(back)
				require.True(t, slices.Equal(want, there))
				require.True(t, slices.Equal(want, back))
			},
		})
	})
}
