package index_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
)

// byValue is an object that is no pointer, and has no ==.
type byValue struct {
	name   string
	labels []string
}

func (b byValue) GetName() string    { return b.name }
func (byValue) GetNamespace() string { return "" }

// TestSame: pointers and values with a == are compared by it, and other values by their contents.
func TestSame(t *testing.T) {
	one, other := new(int), new(int)
	assert.True(t, index.Same(one, one))
	assert.False(t, index.Same(one, other), "equal, but not the same")
	assert.True(t, index.Same[*int](nil, nil))
	assert.False(t, index.Same(nil, one))

	assert.True(t, index.Same(index.Key{Name: "a"}, index.Key{Name: "a"}))
	assert.False(t, index.Same(index.Key{Name: "a"}, index.Key{Name: "b"}))
	assert.True(t, index.Same(uint8(3), uint8(3)))
	assert.False(t, index.Same("a", "b"))

	type padded struct {
		n    int32
		flag bool
	}
	assert.True(t, index.Same(padded{1, true}, padded{1, true}))
	assert.False(t, index.Same(padded{1, true}, padded{1, false}))

	assert.True(t, index.Same(byValue{"a", []string{"x"}}, byValue{"a", []string{"x"}}))
	assert.False(t, index.Same(byValue{"a", []string{"x"}}, byValue{"a", []string{"y"}}))

	assert.True(t, index.Same[any](one, one))
	assert.False(t, index.Same[any](one, other))
	assert.False(t, index.Same[any](nil, one))
	assert.False(t, index.Same[any](byValue{}, one))
	assert.True(t, index.Same[any](byValue{"a", nil}, byValue{"a", nil}))

	key := index.Key{Namespace: "shop", Name: "web-1"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if !index.Same(one, one) || !index.Same(key, key) {
			t.Error("they are the same")
		}
	}))
}

// TestObjectsWithoutEquality are kept, found and compared like others.
func TestObjectsWithoutEquality(t *testing.T) {
	byLabel := index.New("label", func(b byValue) []string { return b.labels })
	x := index.NewIndexer[byValue]()
	assert.NoError(t, x.AddIndexes(byLabel))
	x.Apply(nil, []index.Change[byValue]{{Object: byValue{"a", []string{"x", "y"}}}}, "")
	x.Apply(nil, []index.Change[byValue]{{Object: byValue{"b", []string{"y"}}}}, "")
	before := x.Snapshot()
	x.Apply(nil, []index.Change[byValue]{{Object: byValue{"a", []string{"y"}}}}, "")
	x.Apply(nil, []index.Change[byValue]{{Object: byValue{"b", []string{"y"}}}}, "")

	assert.Empty(t, byLabel.Get("x"))
	assert.ElementsMatch(t, []byValue{{"a", []string{"y"}}, {"b", []string{"y"}}}, byLabel.Get("y"))
	changes := slices.Collect(index.Diff(before, x.Snapshot()))
	assert.Equal(t, []index.Event[byValue]{{Type: index.Updated, Old: byValue{"a", []string{"x", "y"}}, New: byValue{"a", []string{"y"}}}}, changes)
}

// loose is comparable for the compiler, but == of two panics if spec holds a slice.
type loose struct {
	name string
	spec any
}

func (l loose) GetName() string    { return l.name }
func (loose) GetNamespace() string { return "" }

// TestSameOfValuesWithInterfaces compares what == cannot.
func TestSameOfValuesWithInterfaces(t *testing.T) {
	assert.True(t, index.Same(loose{"a", []int{1}}, loose{"a", []int{1}}))
	assert.False(t, index.Same(loose{"a", []int{1}}, loose{"a", []int{2}}))
	assert.False(t, index.Same(loose{"a", 1}, loose{"a", []int{1}}))
	x := index.NewIndexer[loose]()
	x.Apply(nil, []index.Change[loose]{{Object: loose{"a", []int{1}}}}, "")
	s := x.Snapshot()
	x.Apply(nil, []index.Change[loose]{{Object: loose{"a", []int{1}}}}, "")
	assert.Empty(t, slices.Collect(index.Diff(s, x.Snapshot())))
}
