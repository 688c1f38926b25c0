package view_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/view"
)

// TestPanicTakesOneObject: an object for which a function panics stays as it was, is
// reported, and is used again when it can be.
func TestPanicTakesOneObject(t *testing.T) {
	broken := errors.New("version 2 is broken")
	guard := func(o *rig.Thing) {
		if o.Version == 2 {
			panic(broken)
		}
	}
	value := func(o *rig.Thing) row { return row{o.Name, fmt.Sprint(o.Version)} }
	for name, test := range map[string]func(things *view.View[*rig.Thing]) *view.View[row]{
		"Map": func(things *view.View[*rig.Thing]) *view.View[row] {
			return view.Map(things, func(o *rig.Thing) row { guard(o); return value(o) })
		},
		"FlatMap": func(things *view.View[*rig.Thing]) *view.View[row] {
			return view.FlatMap(things, func(o *rig.Thing) []row { guard(o); return []row{value(o)} })
		},
		"Group": func(things *view.View[*rig.Thing]) *view.View[row] {
			return view.Group(things, byName, func(_ string, all iter.Seq[*rig.Thing]) (made row, ok bool) {
				for o := range all {
					guard(o)
					made = value(o)
				}
				return made, true
			})
		},
		"Reduce": func(things *view.View[*rig.Thing]) *view.View[row] {
			fold := view.Fold[*rig.Thing, int]{
				Add:    func(sum *int, o *rig.Thing) { *sum += o.Version },
				Remove: func(sum *int, o *rig.Thing) { *sum -= o.Version },
			}
			return view.Reduce(things, byName, fold, func(key string, sum *int, _ int) (row, bool) {
				guard(&rig.Thing{Version: *sum})
				return row{key, fmt.Sprint(*sum)}, true
			})
		},
		"the comparison": func(things *view.View[*rig.Thing]) *view.View[row] {
			return versions(things, view.WithEqual(func(a, b row) bool { panic(broken) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				set := named("a", "b")
				informer := start(t, test(set.View()))
				set.Put(rig.On("x", rig.At("a", 2)), rig.On("x", rig.At("b", 3)))
				time.Sleep(time.Minute)
				status := informer.Status()
				require.ErrorIs(t, status.LastRejected, broken)
				if name == "the comparison" { // it is taken for a change
					checkRows(t, informer, "a=2", "b=3")
					return
				}
				checkRows(t, informer, "a=1", "b=3")
				assert.Equal(t, 1, status.RejectedNow)
				require.ErrorContains(t, status.LastRejected, "view "+name)
				set.Put(rig.On("x", rig.At("a", 4)))
				checkRows(t, informer, "a=4", "b=3")
				assert.Zero(t, informer.Status().RejectedNow)

				set.Put(rig.On("x", rig.At("a", 2)))
				synctest.Wait()
				set.Delete(rig.Key("a"))
				checkRows(t, informer, "b=3")
				assert.Zero(t, informer.Status().RejectedNow)
			})
		})
	}
}

// TestPanicOfANamespace: an object with a name, but without a namespace, is left out like one
// for which the function panics.
func TestPanicOfANamespace(t *testing.T) {
	made := func(o *rig.Thing) row {
		if o.Version == 2 {
			return row{o.Name, misplaced}
		}
		return row{o.Name, fmt.Sprint(o.Version)}
	}
	for name, test := range map[string]func(things *view.View[*rig.Thing]) *view.View[row]{
		"Map": func(things *view.View[*rig.Thing]) *view.View[row] { return view.Map(things, made) },
		"FlatMap": func(things *view.View[*rig.Thing]) *view.View[row] {
			return view.FlatMap(things, func(o *rig.Thing) []row { return []row{made(o)} })
		},
		"Group": func(things *view.View[*rig.Thing]) *view.View[row] {
			return view.Group(things, byName, func(_ string, all iter.Seq[*rig.Thing]) (last row, ok bool) {
				for o := range all {
					last = made(o)
				}
				return last, true
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				set := named("a", "b")
				informer := start(t, test(set.View()))
				set.Put(rig.On("x", rig.At("a", 2)), rig.On("x", rig.At("b", 3)))
				synctest.Wait()
				checkRows(t, informer, "a=1", "b=3")
				assert.Equal(t, 1, informer.Status().RejectedNow)
				assert.ErrorContains(t, informer.Status().LastRejected, "no namespace")
			})
		})
	}
}

// TestPanicOfAKeyFunction: the object stays where it was.
func TestPanicOfAKeyFunction(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		left, right := named("a"), named("b")
		keys := view.One(func(o *rig.Thing) (string, bool) {
			if o.Version == 2 {
				panic("no key")
			}
			return o.Node, true
		})
		v := view.JoinOn(left.View(), right.View(), onNode, keys, matching)
		informer := start(t, v)
		right.Put(rig.On("y", rig.At("b", 2)))
		checkRows(t, informer, "a=b@2")
		assert.Equal(t, 1, informer.Status().RejectedNow)
		assert.ErrorContains(t, informer.Rejected(rig.Key("b")), "no key")
		right.Put(rig.On("y", rig.At("b", 3)))
		checkRows(t, informer, "a=")
		assert.Zero(t, informer.Status().RejectedNow)
	})
}

// TestPanicBetweenKeys: an object of which only some keys are known is not joined by these.
func TestPanicBetweenKeys(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		left, right := named("a"), named("b")
		keys := view.Many(func(o *rig.Thing) []any {
			if o.Version == 2 {
				return []any{o.Node, []string{"a slice is no key"}}
			}
			return []any{o.Node, "y"}
		})
		v := view.JoinOn(left.View(), right.View(), keys, view.One(func(o *rig.Thing) (any, bool) { return o.Node, true }), matching)
		informer := start(t, v)
		right.Put(rig.On("y", rig.At("c", 1)))
		checkRows(t, informer, "a=b@1c@1")
		left.Put(rig.On("x", rig.At("a", 2)))
		right.Put(rig.On("x", rig.At("b", 2)))
		checkRows(t, informer, "a=b@1c@1")
		right.Put(rig.On("x", rig.At("b", 3)))
		checkRows(t, informer, "a=b@1c@1")
		assert.Equal(t, 1, informer.Status().RejectedNow)
		left.Put(rig.On("x", rig.At("a", 3)))
		checkRows(t, informer, "a=b@3c@1")
		assert.Zero(t, informer.Status().RejectedNow)
	})
}

func matching(o *rig.Thing, others iter.Seq[*rig.Thing]) (row, bool) {
	found := ""
	for other := range others {
		found += fmt.Sprint(other)
	}
	return row{o.Name, found}, true
}

// TestPanicOfAFold: the object is left out, and the results are right again later.
func TestPanicOfAFold(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := named("a", "b")
		informer := start(t, sumsOfNodes(set.View()))
		checkRows(t, informer, "x=2/2")
		set.Put(rig.On("x", rig.At("a", 100)))
		checkRows(t, informer, "x=1/1")
		assert.ErrorContains(t, informer.Rejected(rig.Key("a")), "too much")
		set.Put(rig.On("x", rig.At("b", 5)))
		checkRows(t, informer, "x=5/1")
		set.Put(rig.On("x", rig.At("a", 7)))
		checkRows(t, informer, "x=12/2")
		assert.Zero(t, informer.Status().RejectedNow)
	})
}

// sumsOfNodes is the sum and number of the versions on each node. The version 100 is too much.
func sumsOfNodes(things *view.View[*rig.Thing]) *view.View[row] {
	return view.Reduce(things, onNode, view.Fold[*rig.Thing, int]{
		Add: func(sum *int, o *rig.Thing) {
			if o.Version == 100 {
				panic("too much")
			}
			*sum += o.Version
		},
		Remove: func(sum *int, o *rig.Thing) { *sum -= o.Version },
	}, func(node string, sum *int, n int) (row, bool) { return row{node, fmt.Sprint(*sum, "/", n)}, true })
}

// TestReduceKeepsKeysApart: when the only object of a key, which was left out, is gone, the keys
// that come next have a state each.
func TestReduceKeepsKeysApart(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(rig.On("x", rig.At("a", 100)))
		informer := start(t, sumsOfNodes(set.View()))
		set.Delete(rig.Key("a"))
		synctest.Wait()
		set.Put(rig.On("y", rig.At("b", 1)), rig.On("z", rig.At("c", 2)))
		checkRows(t, informer, "y=1/1", "z=2/1")
	})
}

// TestAllThatPanics: an informer of which everything was rejected has not synced, as
// of any other source.
func TestAllThatPanics(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := named("a")
		informer := start(t, view.Map(set.View(), func(o *rig.Thing) row {
			if o.Version == 1 {
				panic("not yet")
			}
			return row{o.Name, "good"}
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorContains(t, informer.WaitForSync(ctx), "not yet")
		set.Put(rig.At("a", 2))
		synctest.Wait()
		require.NoError(t, informer.WaitForSync(t.Context()))
		checkRows(t, informer, "a=good")
	})
}

// TestRepairUncoversRejection: of two objects of one name that cannot be used, in two views, the
// one that is used again does not stay the reason why the name is rejected.
func TestRepairUncoversRejection(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		badLeft, badRight := errors.New("left is broken"), errors.New("right is broken")
		part := func(set *view.Set[*rig.Thing], broken error) *view.View[row] {
			return view.Map(set.View(), func(o *rig.Thing) row {
				if o.Version > 1 {
					panic(broken)
				}
				return row{name: o.Name}
			})
		}
		left, right := named("a"), named("a")
		informer := start(t, view.Union(part(left, badLeft), part(right, badRight)))
		left.Put(rig.On("x", rig.At("a", 2)))
		synctest.Wait()
		right.Put(rig.On("x", rig.At("a", 2)))
		synctest.Wait()
		require.ErrorIs(t, informer.Status().LastRejected, badRight)
		left.Put(rig.On("x", rig.At("a", 3)))
		synctest.Wait()
		require.ErrorIs(t, informer.Status().LastRejected, badLeft)
		left.Put(rig.On("x", rig.At("a", 1)))
		synctest.Wait()
		status := informer.Status()
		assert.Equal(t, 1, status.RejectedNow)
		assert.ErrorIs(t, status.LastRejected, badRight, "it is the one that fails still")
	})
}
