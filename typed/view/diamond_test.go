package view_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// TestDiamonds: what is made of two informers that need not be of one moment is an error,
// however far below they have something in common, even where one of them is projected.
func TestDiamonds(t *testing.T) {
	set := named("a")
	inner := func(of *view.View[*rig.Thing]) *typed.Informer[*rig.Thing] {
		return typed.NewInformer(versionsOfThings(of))
	}
	one := inner(set.View())
	two := inner(view.Of(one))
	projected := typed.NewInformer(source.Map(versionsOfThings(set.View()), func(o *rig.Thing) *rig.Thing { return o }))
	for name, views := range map[string][2]*view.View[*rig.Thing]{
		"one level":  {view.Of(one), set.View()},
		"two levels": {set.View(), view.Of(two)},
		"between":    {view.Of(two), view.Of(one)},
		"siblings":   {view.Of(one), view.Of(inner(set.View()))},
		"cousins":    {view.Of(two), view.Of(inner(view.Of(inner(set.View()))))},
		"projected":  {view.Of(projected), set.View()},
	} {
		assert.ErrorContains(t, view.Union(views[0], views[1]).Err(), "need not be of one moment", name)
	}
	assert.NoError(t, view.Union(view.Of(two), view.Of(inner(named("b").View()))).Err())
	assert.NoError(t, view.Union(view.Of(two), view.Of(two), versionsOfThings(view.Of(two))).Err(), "it is one input")
}

// TestDiamondsNameBothWays: the error names both ways to the common input.
func TestDiamondsNameBothWays(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		base := rig.New(t, typed.WithName("base")).Informer
		left := typed.NewInformer(view.Filter(view.Of(base), isAny, view.WithName("some")), typed.WithName("left"))
		factory := typed.NewFactory()
		defer factory.Shutdown()
		right, err := typed.Share(factory, "right", func() source.Source[*rig.Thing] {
			return view.Filter(view.Of(base), isAny, view.WithName("others"))
		})
		require.NoError(t, err)
		assert.ErrorContains(t, view.Union(view.Of(left), view.Of(right)).Err(),
			"made of base in two ways, so that both need not be of one moment: base → some → left, and base → others → "+right.Name()+"; give the view")
		assert.ErrorContains(t, view.Union(view.Of(base), view.Of(left)).Err(), ": base, and base → some → left; ")
	})
}

func isAny(*rig.Thing) bool { return true }

// TestDiamondsThatComeLater: where a source opens others as it runs, a view that has become
// inconsistent by that ends with an error before readers see the result.
func TestDiamondsThatComeLater(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set, namespaces := named("a"), source.NewNamespaces()
		between := typed.NewInformer(source.FromNamespaces(namespaces, func(string) source.Source[*rig.Thing] {
			return versionsOfThings(set.View())
		}), typed.WithName("between"))
		t.Cleanup(run(t, between))
		synctest.Wait()
		informer := typed.NewInformer(view.Union(view.Of(between), set.View()))
		ctx, cancel := contextOf(t)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- informer.Run(ctx) }()
		synctest.Wait()
		assert.Equal(t, 1, informer.Len(), "it is consistent now")
		before := informer.ResourceVersion()
		namespaces.Add("ns")
		synctest.Wait()
		require.NotEmpty(t, ended, "it goes on")
		err := <-ended
		assert.ErrorContains(t, err, "made of "+set.Name()+" in two ways")
		assert.ErrorContains(t, err, " → between, and ")
		assert.Equal(t, before, informer.ResourceVersion(), "nobody has seen more")
		assert.Equal(t, 1, between.Len(), "which is as it should be")
		assert.ErrorContains(t, view.Union(view.Of(between), set.View()).Err(), "in two ways", "now it is known at once")
	})
}

// TestDiamondsAreLookedForOnce while nothing is opened, since that is not free, and again when
// something is that makes none.
func TestDiamondsAreLookedForOnce(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set, looked := named("a"), 0
		namespaces := source.NewNamespaces("ns")
		between := typed.NewInformer(source.FromNamespaces(namespaces, func(string) source.Source[*rig.Thing] {
			return lookedAt{versionsOfThings(named("b").View()), &looked}
		}))
		t.Cleanup(run(t, between))
		synctest.Wait()
		informer := start(t, view.Union(view.Of(between), set.View()))
		before := looked
		for version := range 5 {
			set.Put(rig.At("a", version))
			synctest.Wait()
		}
		assert.Equal(t, before, looked)
		namespaces.Add("another")
		synctest.Wait()
		assert.Greater(t, looked, before)
		assert.Equal(t, report.PhaseSynced, informer.Phase())
	})
}

// lookedAt is a source that counts how often it is asked what it is derived from.
type lookedAt struct {
	*view.View[*rig.Thing]
	looked *int
}

func (l lookedAt) DerivedFrom() []source.Derived {
	*l.looked++
	return l.View.DerivedFrom()
}

// TestDerives: a view leads to its inputs.
func TestDerives(t *testing.T) {
	set := named("a")
	assert.Equal(t, []source.Derived{set}, versionsOfThings(view.Union(set.View(), set.View())).DerivedFrom())
	var none *view.View[*rig.Thing]
	assert.Empty(t, none.DerivedFrom())
}
