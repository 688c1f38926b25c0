package view_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// row is what the tests compute.
type row struct{ name, value string }

func (r row) GetName() string { return r.name }

func (r row) GetNamespace() string {
	if r.value == misplaced {
		panic("no namespace")
	}
	return ""
}

// misplaced is the value of rows that have no namespace, but panic.
const misplaced = "misplaced"

// start runs an informer of a view until the test ends.
func start[T index.Object](t *testing.T, v *view.View[T], opts ...typed.Option) *typed.Informer[T] {
	t.Helper()
	require.NoError(t, v.Err())
	informer := typed.NewInformer(v, opts...)
	t.Cleanup(run(t, informer))
	synctest.Wait()
	return informer
}

// rows returns what a view has, in order.
func rows(of interface{ All() iter.Seq[row] }) []string {
	synctest.Wait()
	var all []string
	for r := range of.All() {
		all = append(all, r.name+"="+r.value)
	}
	slices.Sort(all)
	return all
}

// versions is the version of each thing.
func versions(things *view.View[*rig.Thing], opts ...view.Option) *view.View[row] {
	return view.Map(things, func(o *rig.Thing) row { return row{o.Name, fmt.Sprint(o.Version)} }, opts...)
}

// onNode is the keys of things by their nodes.
var onNode = view.One(func(o *rig.Thing) (string, bool) { return o.Node, o.Node != "" })

// byName is the names of things as keys.
var byName = view.One(func(o *rig.Thing) (string, bool) { return o.Name, true })

// named returns a set of things with these names.
func named(names ...string) *view.Set[*rig.Thing] {
	set := view.NewSet[*rig.Thing]()
	for _, name := range names {
		set.Put(rig.On("x", rig.At(name, 1)))
	}
	return set
}

// checkRows compares what a view has.
func checkRows(t *testing.T, of interface{ All() iter.Seq[row] }, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	got := rows(of)
	if got == nil {
		got = []string{}
	}
	assert.Equal(t, want, got)
}
