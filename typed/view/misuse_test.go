package view_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// unequal is an object that has no ==.
type unequal struct {
	row
	_ []string
}

// TestViewsRejectBadArguments: Err and the informer return the error of a view.
func TestViewsRejectBadArguments(t *testing.T) {
	things := named("a").View()
	join := func(*rig.Thing, iter.Seq[*rig.Thing]) (row, bool) { return row{}, true }
	selector := func(*rig.Thing) labels.Selector { return nil }
	fold := view.Fold[*rig.Thing, int]{Add: func(*int, *rig.Thing) {}, Remove: func(*int, *rig.Thing) {}}
	result := func(string, *int, int) (row, bool) { return row{}, true }
	for want, made := range map[string]interface{ Err() error }{
		"informer is nil":                                                                view.Of[*rig.Thing](nil),
		"view *rig.Thing: informer is nil":                                               versions(view.Map(view.Of[*rig.Thing](nil), func(o *rig.Thing) *rig.Thing { return o })),
		"input is nil":                                                                   versions(nil),
		"view is nil":                                                                    (*view.View[row])(nil),
		"Map(Set of *rig.Thing): function is nil":                                        view.Map[*rig.Thing, row](things, nil),
		"Filter(Set of *rig.Thing): function is nil":                                     view.Filter(things, nil),
		"FlatMap(Set of *rig.Thing): function is nil":                                    view.FlatMap[*rig.Thing, row](things, nil),
		"Group(Set of *rig.Thing): function is nil":                                      view.Group[*rig.Thing, string, row](things, onNode, nil),
		"Reduce(Set of *rig.Thing): Fold.Add is nil":                                     view.Reduce(things, onNode, view.Fold[*rig.Thing, int]{}, result),
		"Reduce(Set of *rig.Thing): Fold.Remove is nil":                                  view.Reduce(things, onNode, view.Fold[*rig.Thing, int]{Add: fold.Add}, result),
		"result function is nil":                                                         view.Reduce[*rig.Thing, string, int, row](things, onNode, fold, nil),
		"Compute(Set of *rig.Thing): function is nil":                                    view.Compute[*rig.Thing, row](things, nil, nil),
		"JoinOn(Set of *rig.Thing, Set of *rig.Thing): join function is nil":             view.JoinOn(things, things, onNode, onNode, (func(*rig.Thing, iter.Seq[*rig.Thing]) (row, bool))(nil)),
		"key function is nil":                                                            view.JoinOn(things, things, onNode, view.One[string, *rig.Thing](nil), join),
		"left key function is nil":                                                       view.JoinOn(things, things, view.Many[string, *rig.Thing](nil), onNode, join),
		"JoinSelecting(Set of *rig.Thing, Set of *rig.Thing): selector function":         view.JoinSelecting(things, things, nil, join),
		"JoinSelectedBy(Set of *rig.Thing, Set of *rig.Thing): selector function is nil": view.JoinSelectedBy(things, things, nil, join),
		"no view to unite":                                                               view.Union[row](),
		"option is nil":                                                                  versions(things, nil),
		"the name is empty":                                                              versions(things, view.WithName("")),
		"the metrics are nil":                                                            versions(things, view.WithMetrics(nil)),
		"WithEqual: function is nil":                                                     versions(things, view.WithEqual[row](nil)),
		"another type than view_test.row":                                                versions(things, view.WithEqual(func(a, b *rig.Thing) bool { return true })),
		"lookup is nil":                                                                  view.Compute(things, func(*view.Fetcher, *rig.Thing) (row, bool) { return row{}, true }, []view.AnyLookup{nil}),
		"view By(Set of *rig.Thing): key function":                                       view.Reduce(things, view.Keys[string, *rig.Thing]{}, fold, result),
		"BySelector(Set of *rig.Thing): selector function":                               view.Compute(things, func(*view.Fetcher, *rig.Thing) (row, bool) { return row{}, true }, []view.AnyLookup{view.BySelector(things, (func(*rig.Thing) labels.Selector)(nil))}),
	} {
		require.ErrorContains(t, made.Err(), want)
		if v, ok := made.(*view.View[row]); ok && v != nil {
			require.ErrorContains(t, typed.NewInformer(v).Run(t.Context()), want)
			_, _, err := v.Explain(t.Context(), index.Key{})
			require.ErrorContains(t, err, want)
			_, err = v.Status(t.Context())
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, v.WaitForResourceVersion(t.Context(), things, "1"), want)
			assert.Nil(t, v.Versions())
			assert.Nil(t, v.ParseVersion("1"))
		}
	}
	require.ErrorContains(t, view.NewSet[unequal]().View().Err(), "objects of type view_test.unequal cannot be the input of a view")
	require.NoError(t, view.JoinSelecting(things, things, selector, join).Err())
}

// TestInformerOfAView is an input as any other, but cannot be joined with its own inputs.
func TestInformerOfAView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set, others := named("a", "b"), named("c")
		same := view.Map(set.View(), func(o *rig.Thing) *rig.Thing { return o })
		informer := start(t, same)
		err := joinedOn(view.Of(informer), set.View()).Err()
		require.ErrorContains(t, err, "made of "+set.Name()+" in two ways")
		require.ErrorContains(t, err, "give the view")
		require.Error(t, joinedOn(versionsOfThings(set.View()), view.Of(informer)).Err())
		require.NoError(t, joinedOn(same, set.View()).Err())
		joined := start(t, joinedOn(view.Of(informer), others.View()))
		checkRows(t, joined, "a=c", "b=c")
	})
}

func versionsOfThings(of *view.View[*rig.Thing]) *view.View[*rig.Thing] {
	return view.Filter(of, func(o *rig.Thing) bool { return true })
}

// TestInformersOfOneView: each computes it, at once or one after another, and the versions of the
// view are those that all of them have reached.
func TestInformersOfOneView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := named("a")
		v := versions(set.View())
		first := typed.NewInformer(v)
		stop := run(t, first)
		synctest.Wait()
		second := typed.NewInformer(v)
		stopSecond := run(t, second)
		checkRows(t, first, "a=1")
		checkRows(t, second, "a=1")
		version := set.Put(rig.At("a", 2))
		require.NoError(t, v.WaitForResourceVersion(t.Context(), set.View(), version))
		checkRows(t, first, "a=2")
		checkRows(t, second, "a=2")
		assert.Equal(t, []view.VersionOf{{Input: set.Name(), ResourceVersion: version}}, v.Versions())
		stop()
		version = set.Put(rig.At("a", 3))
		require.NoError(t, v.WaitForResourceVersion(t.Context(), set.View(), version), "one that has ended is not waited for")
		checkRows(t, second, "a=3")
		assert.Equal(t, []view.VersionOf{{Input: set.Name(), ResourceVersion: version}}, v.Versions(), "nor does it count")
		_, err := v.Status(t.Context())
		require.NoError(t, err, "nor is it asked")
		stopSecond()
		_, err = v.Status(t.Context())
		require.ErrorContains(t, err, "no running informer has this view")
		checkRows(t, start(t, v), "a=3")
	})
}

// TestWithChecks: functions that are not pure are found, whichever it is.
func TestWithChecks(t *testing.T) {
	var n atomic.Int64
	impure := func() string { return fmt.Sprint(n.Add(1)) }
	good := func(o *rig.Thing, _ iter.Seq[*rig.Thing]) (row, bool) { return row{o.Name, ""}, true }
	bad := func(o *rig.Thing, _ iter.Seq[*rig.Thing]) (row, bool) { return row{o.Name, impure()}, true }
	badKey := view.One(func(*rig.Thing) (string, bool) { return impure(), true })
	badKeys := view.Many(func(*rig.Thing) []string { return []string{impure()} })
	badSelector := func(*rig.Thing) labels.Selector { return labels.SelectorFromSet(labels.Set{"a": impure()}) }
	things := named("a").View()
	checks := view.WithChecks()
	for name, v := range map[string]*view.View[row]{
		"Map":      view.Map(things, func(o *rig.Thing) row { return row{o.Name, impure()} }, checks),
		"FlatMap":  view.FlatMap(things, func(o *rig.Thing) []row { return []row{{o.Name, impure()}} }, checks),
		"FlatMap2": view.FlatMap(things, func(o *rig.Thing) []row { return make([]row, n.Add(1)%2) }, checks),
		"Group": view.Group(things, onNode, func(key string, _ iter.Seq[*rig.Thing]) (row, bool) {
			return row{key, impure()}, true
		}, checks),
		"Group's keys":      view.Group(things, badKeys, func(string, iter.Seq[*rig.Thing]) (row, bool) { return row{"a", ""}, true }, checks),
		"JoinOn":            view.JoinOn(things, things, onNode, onNode, bad, checks),
		"left keys":         view.JoinOn(things, things, badKey, onNode, good, checks),
		"right keys":        view.JoinOn(things, things, onNode, badKeys, good, checks),
		"left selector":     view.JoinSelecting(things, things, badSelector, good, checks),
		"right selector":    view.JoinSelectedBy(things, things, badSelector, good, checks),
		"a function's keys": view.JoinOn(things, things, badKeys, onNode, good, checks),
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				informer := start(t, v)
				time.Sleep(time.Second)
				require.NotZero(t, informer.Status().RejectedNow)
				assert.ErrorContains(t, informer.Status().LastRejected, "different")
			})
		})
	}
}

// TestFetcherIsUsedInTheFunction, with lookups that were named.
func TestFetcherIsUsedInTheFunction(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := named("a")
		things := set.View()
		named, unnamed := view.By(things, onNode), view.By(things, onNode, view.WithName("another"))
		var kept *view.Fetcher
		informer := start(t, view.Compute(things, func(f *view.Fetcher, o *rig.Thing) (row, bool) {
			kept = f
			switch o.Version {
			case 2:
				unnamed.Fetch(f, "x")
			case 3:
				named.Fetch(nil, "x")
			}
			found, ok := named.One(f, "x")
			_, none := named.One(f, "y")
			return row{o.Name, fmt.Sprint(found, ok, none)}, true
		}, []view.AnyLookup{named, named}))
		checkRows(t, informer, "a=a@1 true false")
		assert.PanicsWithValue(t, "view Compute(Set of *rig.Thing, By(Set of *rig.Thing), By(Set of *rig.Thing)): a fetcher is used after the function that it was given to has returned",
			func() { named.Fetch(kept, "x") })
		set.Put(rig.On("x", rig.At("a", 2)))
		synctest.Wait()
		require.ErrorContains(t, informer.Rejected(rig.Key("a")), "the lookup another was not named when the view was made")
		set.Put(rig.On("x", rig.At("a", 3)))
		synctest.Wait()
		require.ErrorContains(t, informer.Rejected(rig.Key("a")), "a fetcher is nil")
		set.Put(rig.On("x", rig.At("a", 4)))
		checkRows(t, informer, "a=a@4 true false")
	})
}

// TestExplain returns the inputs that an object was made of.
func TestExplain(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		left, right := named("a"), named("b", "c")
		v := versionsOf(joinedOn(left.View(), right.View()))
		start(t, v)
		e, ok, err := v.Explain(t.Context(), index.Key{Name: "a"})
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, v.Name(), e.View)
		assert.Equal(t, index.Key{Name: "a"}, e.Key)
		require.Len(t, e.From, 1)
		joined := e.From[0]
		assert.Equal(t, time.Now().Unix(), joined.Computed.Unix())
		assert.Equal(t, []view.Fetched{{From: "By(Set of *rig.Thing)", Key: "x", Objects: []string{"ns/b", "ns/c"}}}, joined.Fetched)
		require.Len(t, joined.From, 1)
		assert.Equal(t, view.Explanation{View: "Set of *rig.Thing", Key: rig.Key("a"), ResourceVersion: "1"}, joined.From[0])
		assert.Contains(t, e.String(), "\n    ns/a of Set of *rig.Thing at 1\n")
		assert.Contains(t, e.String(), "x of By(Set of *rig.Thing): ns/b ns/c")

		_, ok, err = v.Explain(t.Context(), index.Key{Name: "b"})
		require.NoError(t, err)
		assert.False(t, ok)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = v.Explain(ctx, index.Key{Name: "a"})
		if err != nil { // it may have been quicker
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

func versionsOf(of *view.View[row]) *view.View[row] {
	return view.Map(of, func(r row) row { return row{r.name, r.value + "!"} })
}

// TestExplainOfEachOperator names what was looked at.
func TestExplainOfEachOperator(t *testing.T) {
	things := named("a", "b").View()
	rows := versions(things)
	for name, test := range map[string]struct {
		view *view.View[row]
		key  string
		want string
	}{
		"Group":   {view.Group(things, onNode, func(key string, _ iter.Seq[*rig.Thing]) (row, bool) { return row{key, ""}, true }), "x", "ns/a ns/b"},
		"FlatMap": {view.FlatMap(things, func(o *rig.Thing) []row { return []row{{o.Name + "1", ""}, {o.Name + "2", ""}} }), "b2", "  ns/b of Set"},
		"Union":   {view.Union(rows, rows), "b", "    ns/b of Set"},
		"Reduce": {view.Reduce(things, onNode, view.Fold[*rig.Thing, int]{Add: func(*int, *rig.Thing) {}, Remove: func(*int, *rig.Thing) {}},
			func(key string, _ *int, _ int) (row, bool) { return row{key, ""}, true }), "x", "ns/a ns/b"},
		"Compute": {func() *view.View[row] {
			byLabels, bySelector := view.ByLabels(things), view.BySelector(things, func(*rig.Thing) labels.Selector { return labels.Everything() })
			return view.Compute(things, func(f *view.Fetcher, o *rig.Thing) (row, bool) {
				byLabels.Select(f, "ns", labels.Everything())
				bySelector.Match(f, "ns", labels.Set{"some": "label"})
				return row{o.Name, ""}, true
			}, []view.AnyLookup{byLabels, bySelector})
		}(), "a", "everything in ns of ByLabels(Set of *rig.Thing): ns/a ns/b\n  some=label in ns of BySelector(Set of *rig.Thing): ns/a ns/b"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				start(t, test.view)
				e, ok, err := test.view.Explain(t.Context(), index.Key{Name: test.key})
				require.NoError(t, err)
				require.True(t, ok)
				assert.Contains(t, e.String(), test.want)
			})
		})
	}
}

// TestSet: each version identifies the contents.
func TestSet(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet[*rig.Thing]()
		of := set.View()
		v := versions(of)
		informer := start(t, v)
		require.NoError(t, informer.WaitForSync(t.Context()))
		version := set.Put(rig.At("a", 1), rig.At("b", 1))
		require.NoError(t, v.WaitForResourceVersion(t.Context(), of, version))
		require.NoError(t, informer.WaitForResourceVersion(t.Context(), version))
		checkRows(t, informer, "a=1", "b=1")
		version = set.Replace(rig.At("b", 2), rig.At("c", 2))
		require.NoError(t, v.WaitForResourceVersion(t.Context(), of, version))
		checkRows(t, informer, "b=2", "c=2")
		set.Delete(rig.Key("b"), rig.Key("nothing"))
		checkRows(t, informer, "c=2")
		_, ok := set.Get(rig.Key("c"))
		assert.True(t, ok)
		assert.PanicsWithValue(t, "view: an object that is put into a Set of *rig.Thing is nil", func() { set.Put(nil) })
		assert.PanicsWithValue(t, "view: an object that is put into a Set of *rig.Thing is nil", func() { set.Replace(nil) })
		checkRows(t, informer, "c=2")
	})
}

// asking is a source that asks for the needed fields again and again.
type asking struct{ source.Source[*rig.Thing] }

func (a asking) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error {
	var working sync.WaitGroup
	working.Go(func() {
		for ctx.Err() == nil {
			_ = sink.Decoding().Needs
		}
	})
	defer working.Wait()
	return a.Source.Run(ctx, sink)
}

// TestExplainKeepsInput: explaining objects of a view that is an input changes nothing of it,
// which other goroutines read.
func TestExplainKeepsInput(t *testing.T) {
	things := typed.NewInformer[*rig.Thing](asking{named("a").View()})
	defer run(t, things)()
	of := view.Of(things)
	informer := typed.NewInformer(of)
	defer run(t, informer)()
	require.NoError(t, informer.WaitForSync(t.Context()))
	for range 100 {
		_, ok, err := of.Explain(t.Context(), index.Key{Namespace: "ns", Name: "a"})
		require.NoError(t, err)
		require.True(t, ok)
	}
}
