package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/typedtest"
)

// TestFactoryRefusesOptionsOfOneInformer: with one indexer for all, a lease would
// return the objects of another.
func TestFactoryRefusesOptionsOfOneInformer(t *testing.T) {
	for name, opt := range map[string]typed.Option{
		"WithName":        typed.WithName("pods"),
		"WithIndexer":     typed.WithIndexer(index.NewIndexer[*rig.Thing]()),
		"WithMetrics":     typed.WithMetrics(&measures{}),
		"WithOnPublished": typed.WithOnPublished(func() {}),
	} {
		f := newShop(t, typed.WithChangedOnly(), opt)
		_, err := typed.Share(f.Factory, place("x"), f.source)
		assert.ErrorContains(t, err, name+" was given to NewFactory, and can only be for one informer: give it to For or Share")
		_, err = typed.For[*corev1.Pod](f.Factory)
		assert.ErrorContains(t, err, name+" was given to NewFactory")
		_, err = typed.Share(newShop(t).Factory, place("x"), f.source, opt)
		assert.NoError(t, err)
	}
}

// nobodysMetrics cannot be compared.
type nobodysMetrics struct {
	typed.Metrics
	_ []int
}

// TestLeasesWithOtherOptions asks for an informer that is in use with options that
// it does not have.
func TestLeasesWithOtherOptions(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		mark := func(node string) func(*rig.Thing) (*rig.Thing, error) {
			return func(o *rig.Thing) (*rig.Thing, error) { return rig.On(node, o), nil }
		}
		published := func() {}
		store, metrics := index.NewIndexer[*rig.Thing](), &measures{}
		kept := mark("kept")
		sets := map[string][]typed.Option{
			"":                            nil,
			"WithName":                    {typed.WithName("n")},
			"WithRecreation":              {typed.WithRecreation()},
			"WithChangedOnly":             {typed.WithChangedOnly()},
			"WithNameless":                {typed.WithNameless()},
			"WithIndexer":                 {typed.WithIndexer(store)},
			"WithMetrics":                 {typed.WithMetrics(metrics)},
			"WithOnPublished":             {typed.WithOnPublished(published)},
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
		_, err = typed.Share(f.Factory, place("y"), f.source, typed.WithMetrics(nobodysMetrics{}))
		require.NoError(t, err)
		_, err = typed.Share(f.Factory, place("y"), f.source, typed.WithMetrics(nobodysMetrics{}))
		assert.ErrorContains(t, err, "WithMetrics is not the same", "they cannot be compared")
	})
}

func TestForTakesOptionsOfItsInformer(t *testing.T) {
	t.Parallel()
	srv := typedtest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "n1")))
	f := typed.NewFactory(srv.Config())
	defer f.Shutdown()
	drop := func(p *corev1.Pod) (*corev1.Pod, error) {
		p.Spec.NodeName = "dropped"
		return p, nil
	}
	opts := []typed.ForOption{typed.WithTransform(drop), typed.WithNamespace("default"), typed.WithName("mine")}
	pods, err := typed.For[*corev1.Pod](f, opts...)
	require.NoError(t, err)
	require.NoError(t, pods.WaitForSync(t.Context()))
	assert.Equal(t, "mine", pods.Name())
	assert.Equal(t, "dropped", pods.List()[0].Spec.NodeName)
	_, err = typed.For[*corev1.Pod](f, opts...)
	assert.NoError(t, err)
	_, err = typed.For[*corev1.Pod](f, typed.WithNamespace("default"))
	assert.ErrorContains(t, err, "informer *v1.Pod in default: it is in use with other options: WithName is not the same")
	_, err = typed.For[*corev1.Pod](f, nil)
	assert.ErrorContains(t, err, "an option is nil")
}
