package view_test

import (
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// TestReasonsOfAView: the deletions of a view, and of a view of that view's informer, have the
// reason of the input, through each operator: an object that the input releases is not reported as
// deleted, and a deleted one is.
func TestReasonsOfAView(t *testing.T) {
	name := func(o *rig.Thing) row { return row{o.Name, fmt.Sprint(o.Version)} }
	for operator, of := range map[string]func(*view.View[*rig.Thing]) *view.View[row]{
		"Map": func(in *view.View[*rig.Thing]) *view.View[row] { return view.Map(in, name) },
		"FlatMap": func(in *view.View[*rig.Thing]) *view.View[row] {
			return view.FlatMap(in, func(o *rig.Thing) []row { return []row{name(o)} })
		},
		"Union": func(in *view.View[*rig.Thing]) *view.View[row] {
			return view.Union(view.Map(in, name), view.Map(in, name))
		},
		"JoinOn": func(in *view.View[*rig.Thing]) *view.View[row] {
			return view.JoinOn(in, in, byName, byName, matching)
		},
		"Group": func(in *view.View[*rig.Thing]) *view.View[row] {
			return view.Map(view.Distinct(in, view.Name[*rig.Thing]()), name)
		},
		"Reduce": func(in *view.View[*rig.Thing]) *view.View[row] {
			return view.Reduce(in, byName, view.Fold[*rig.Thing, int]{
				Add: func(n *int, _ *rig.Thing) { *n++ }, Remove: func(n *int, _ *rig.Thing) { *n-- },
			}, func(key string, n *int, _ int) (row, bool) { return row{key, fmt.Sprint(*n)}, true })
		},
		"right side": func(in *view.View[*rig.Thing]) *view.View[row] {
			set := named("a", "b", "c")
			return view.JoinOn(set.View(), in, byName, byName, func(o *rig.Thing, with iter.Seq[*rig.Thing]) (row, bool) {
				for range with {
					return name(o), true
				}
				return row{}, false
			})
		},
	} {
		t.Run(operator, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1), rig.At("c", 1)}, "1")
				informer := start(t, of(view.Of(r.Informer)))
				above := start(t, view.Filter(view.Of(informer), func(row) bool { return true }))
				var told [2][]string
				for n, i := range []*typed.Informer[row]{informer, above} {
					_, err := i.Handle(typed.HandlerFuncs[row]{DeleteFunc: func(d typed.Deleted[row]) {
						told[n] = append(told[n], fmt.Sprint(d.Key.Name, " ", d.Reason))
					}})
					require.NoError(t, err)
				}
				r.Sink.Replace(source.List{Part: true, Gone: []index.Key{rig.Key("a")}, Reason: index.Released}, "2")
				synctest.Wait()
				sinktest.Remove(r.Sink, rig.Key("b"), index.OutOfScope, "3")
				synctest.Wait()
				sinktest.Delete(r.Sink, rig.At("c", 1), "4")
				synctest.Wait()
				for n := range told {
					assert.Equal(t, []string{"a Released", "b OutOfScope", "c Watched"}, told[n])
				}
			})
		})
	}
}

// TestVersionsOfAViewOfAView: nested versions can be parsed, and a wait for a number as the version
// of an informer of a view, which has none, returns an error at once.
func TestVersionsOfAViewOfAView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		a, b, c := named("a"), named("b"), named("c")
		below := view.Union(a.View(), b.View())
		inner := start(t, below, typed.WithName("inner"))
		v := view.Union(view.Of(inner), c.View())
		informer := start(t, v)
		version := a.Put(rig.At("a", 2))
		synctest.Wait()
		parsed := v.ParseVersion(informer.ResourceVersion())
		require.Len(t, parsed, 2)
		assert.Equal(t, "inner", parsed[0].Input)
		assert.Equal(t, inner.ResourceVersion(), parsed[0].ResourceVersion)
		assert.Equal(t, version, below.ParseVersion(parsed[0].ResourceVersion)[0].ResourceVersion)
		assert.Equal(t, parsed, v.Versions())
		assert.ErrorContains(t, v.WaitForResourceVersion(t.Context(), view.Of(inner), version), "cannot be compared")
		for _, wrong := range []string{"1", "1,2,3", "(1,2", "(1,2))", "1,(2"} {
			assert.Nil(t, v.ParseVersion(wrong), wrong)
		}
	})
}

// TestFailuresDiffer: two views without names, and two objects of one name, fail each by
// themselves, and a failure under a name that is not there any more ends with its object.
func TestFailuresDiffer(t *testing.T) {
	picky := func(name string) func(o *rig.Thing) row {
		return func(o *rig.Thing) row {
			if o.Version == 100 && name == "first" {
				panic("too much")
			}
			return row{name + o.Name, fmt.Sprint(o.Version)}
		}
	}
	t.Run("views", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			set := named("a")
			informer := start(t, view.Union(view.Map(set.View(), picky("first")), view.Map(set.View(), picky("second"))))
			set.Put(rig.At("a", 100))
			checkRows(t, informer, "firsta=1", "seconda=100")
			assert.ErrorContains(t, informer.Rejected(rig.Key("a")), "too much")
		})
	})
	t.Run("objects of a name", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			left, right := named("a"), named("a")
			key := view.One(func(o *rig.Thing) (string, bool) {
				if o.Version == 100 {
					panic("too much")
				}
				return o.Node, true
			})
			informer := start(t, view.JoinOn(left.View(), right.View(), onNode, key, func(o *rig.Thing, _ iter.Seq[*rig.Thing]) (*rig.Thing, bool) { return o, true }))
			right.Put(rig.On("x", rig.At("a", 100)))
			synctest.Wait()
			left.Put(rig.On("x", rig.At("a", 2)))
			synctest.Wait()
			assert.Error(t, informer.Rejected(rig.Key("a")), "the other one is as bad as before")
			right.Put(rig.On("x", rig.At("a", 3)))
			synctest.Wait()
			assert.Nil(t, informer.Rejected(rig.Key("a")))
		})
	})
	t.Run("names", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			set := view.NewSet(rig.On("x", rig.At("a", 100)), rig.On("x", rig.At("b", 100)))
			informer := start(t, view.Map(view.Distinct(set.View(), onNode), picky("first")))
			set.Delete(rig.Key("a"))
			synctest.Wait()
			assert.Nil(t, informer.Rejected(rig.Key("a")))
			assert.NotNil(t, informer.Rejected(rig.Key("b")))
			set.Replace()
			synctest.Wait()
			assert.Zero(t, informer.Status().RejectedNow)
		})
	})
}

// TestFirstListOfAView: an informer that could not sync since an object is bad does when it is
// good, though nothing is made of it, and two objects have one name below.
func TestFirstListOfAView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(rig.At("a", 1), rig.At("b", 1), rig.At("c", 100))
		one := view.Map(set.View(), func(o *rig.Thing) row {
			if o.Version == 100 {
				panic("too much")
			}
			return row{"one", ""}
		})
		v := view.Filter(one, func(row) bool { return false })
		informer := start(t, v)
		assert.False(t, rig.IsClosed(informer.Synced()))
		version := set.Put(rig.At("c", 2))
		synctest.Wait()
		assert.True(t, rig.IsClosed(informer.Synced()))
		assert.NoError(t, informer.Status().Err)
		assert.NoError(t, v.WaitForResourceVersion(t.Context(), set.View(), version))
	})
}

// TestFirstOfANameAfterARename: of objects made with one name, the view contains the one whose
// input comes first by name, even when only that is renamed.
func TestFirstOfANameAfterARename(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(rig.On("a", rig.At("1", 1)), rig.On("b", rig.At("2", 2)))
		renamed := view.Map(set.View(), func(o *rig.Thing) row { return row{o.Node, fmt.Sprint(o.Version)} })
		same := func(r row) row { return row{"x", r.value} }
		informer := start(t, view.Map(renamed, same))
		flat := start(t, view.FlatMap(renamed, func(r row) []row { return []row{same(r)} }))
		checkRows(t, informer, "x=1")
		set.Put(rig.On("c", rig.At("1", 1)))
		checkRows(t, informer, "x=2")
		checkRows(t, flat, "x=2")
	})
}

// TestMadeInAnotherOrder: of objects that one call makes with one name, the first is there.
func TestMadeInAnotherOrder(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(rig.At("a", 1))
		informer := start(t, view.FlatMap(set.View(), func(o *rig.Thing) []row {
			made := []row{{"x", "1"}, {"y", ""}, {"x", "2"}}
			if o.Version == 2 {
				made[0], made[2] = made[2], made[0]
			}
			return made
		}))
		checkRows(t, informer, "x=1", "y=")
		set.Put(rig.At("a", 2))
		checkRows(t, informer, "x=2", "y=")
	})
}

// TestMadeTwice: of objects that one call makes with a name that was there, the first is there.
func TestMadeTwice(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(rig.At("a", 1))
		informer := start(t, view.FlatMap(set.View(), func(o *rig.Thing) []row {
			if o.Version == 1 {
				return []row{{"y", ""}, {"x", "0"}}
			}
			return []row{{"x", "1"}, {"x", "2"}}
		}))
		checkRows(t, informer, "x=0", "y=")
		set.Put(rig.At("a", 2))
		checkRows(t, informer, "x=1")
		assert.Equal(t, 1, informer.Status().RejectedNow)
	})
}
