package typed_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// TestFactoryRefusesOptionsOfOneInformer: with one indexer for all, a user would
// return the objects of another.
func TestFactoryRefusesOptionsOfOneInformer(t *testing.T) {
	for name, opt := range map[string]typed.Option{
		"WithName":     typed.WithName("pods"),
		"WithIndexer":  typed.WithIndexer(index.NewIndexer[*rig.Thing]()),
		"WithMetrics":  observe.WithMetrics(&measures{}),
		"WithObserver": typed.WithObserver(observer.OnStored(func() {})),
	} {
		f := newShop(t, typed.WithChangedOnly(), opt)
		_, err := typed.Share(f.Factory, place("x"), f.source)
		assert.ErrorContains(t, err, name+" was given to NewFactory, and can only be for one informer: give it to For or Share")
		_, err = typed.Share(newShop(t).Factory, place("x"), f.source, opt)
		assert.NoError(t, err)
	}
}

// nobodysMetrics cannot be compared.
type nobodysMetrics struct {
	observe.Metrics
	_ []int
}

// TestLeasesWithOtherOptions asks for an informer that is in use with options that
// it does not have.
func TestLeasesWithOtherOptions(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		mark := func(node string) func(*rig.Thing) (*rig.Thing, error) {
			return func(o *rig.Thing) (*rig.Thing, error) { return rig.On(node, o), nil }
		}
		published, told := typed.WithObserver(observer.OnStored(func() {})), func(observe.Mutation) {}
		measured, warned := func(string, source.Origin) observe.Metrics { return nil }, func(report.Budget) {}
		store, metrics := index.NewIndexer[*rig.Thing](), &measures{}
		kept := mark("kept")
		sets := map[string][]typed.Option{
			"":                            nil,
			"WithName":                    {typed.WithName("n")},
			"WithRecreation":              {typed.WithRecreation()},
			"WithChangedOnly":             {typed.WithChangedOnly()},
			"WithNameless":                {typed.WithNameless()},
			"WithIndexer":                 {typed.WithIndexer(store)},
			"WithMetrics":                 {observe.WithMetrics(metrics)},
			"WithObserver":                {published},
			"WithMetricsFor":              {observe.WithMetricsFor(measured)},
			"WithHistory":                 {observe.WithHistory(5)},
			"WithSlowIndexes":             {observe.WithSlowIndexes(time.Second)},
			"WithBudget":                  {observe.WithBudget(observe.Budget{Objects: 5, OnWarning: warned})},
			"WithCallTimes":               {observe.WithCallTimes()},
			"WithSlowHandlers":            {observe.WithSlowHandlers(time.Second, 0)},
			"WithMutationDetection":       {observe.WithMutationDetection(time.Minute, told)},
			"WithTransform":               {typed.WithTransform(kept)},
			"WithTransform, then another": {typed.WithTransform(kept), typed.WithTransform(mark("b"))},
		}
		for first, opts := range sets {
			f := newShop(t)
			l, err := typed.Share(f.Factory, place("x"), f.source, opts...)
			require.NoError(t, err)
			for second, opts := range sets {
				again, err := typed.Share(f.Factory, place("x"), f.source, opts...)
				if first == second {
					require.NoError(t, err)
					again.Release()
					continue
				}
				assert.ErrorContains(t, err, "informer *rig.Thing x: it is in use with other options: With", "%s, then %s", first, second)
				if first == "" && second != "WithTransform, then another" {
					assert.ErrorContains(t, err, second+" is not the same")
				}
			}
			l.Release()
			synctest.Wait()
			other, err := typed.Share(f.Factory, place("x"), f.source, typed.WithRecreation())
			assert.NoError(t, err, "nobody uses it")
			other.Release()
			f.Shutdown()
		}

		f := newShop(t)
		_, err := typed.Share(f.Factory, place("x"), f.source, typed.WithTransform(mark("a")))
		require.NoError(t, err)
		_, err = typed.Share(f.Factory, place("x"), f.source, typed.WithTransform(mark("b")))
		assert.ErrorContains(t, err, "WithTransform is not the same", "the same code, with another variable")
		_, err = typed.Share(f.Factory, place("y"), f.source, observe.WithMetrics(nobodysMetrics{}))
		require.NoError(t, err)
		_, err = typed.Share(f.Factory, place("y"), f.source, observe.WithMetrics(nobodysMetrics{}))
		assert.ErrorContains(t, err, "WithMetrics is not the same", "they cannot be compared")
	})
}
