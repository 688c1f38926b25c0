package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// TestDiamondsOverSharedInformers: sources over one shared informer have it in common, whether
// it is client-go's or stands on an informer of this module, and whatever it is embedded in.
func TestDiamondsOverSharedInformers(t *testing.T) {
	own := typed.NewInformer[*corev1.Pod](given{}, typed.WithName("own"))
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	pods := factory.Core().V1().Pods().Informer()
	over := func(informer cache.SharedInformer, name string) *view.View[*corev1.Pod] {
		return view.Of(typed.NewInformer(adapters.FromShared[*corev1.Pod](informer), typed.WithName(name)))
	}
	for name, test := range map[string]struct {
		one, other *view.View[*corev1.Pod]
		ways       string
	}{
		"client-go's":           {over(pods, "a"), over(pods, "b"), " → a, and the shared informer"},
		"of a factory":          {over(pods, "a"), view.Of(typed.NewInformer(fromFactory(factory), typed.WithName("b"))), " → b; "},
		"typed one":             {over(pods, "a"), over(cache.NewTypedSharedIndexInformer[*corev1.Pod](pods), "b"), "in two ways"},
		"this module's":         {over(adapters.SharedIndexInformer(own), "a"), view.Of(own), ": own → a, and own; "},
		"two of this module's":  {over(adapters.SharedIndexInformer(own), "a"), over(adapters.SharedIndexInformer(own), "b"), ": own → a, and own → b; "},
		"embedded, this module": {over(embedding{adapters.SharedIndexInformer(own)}, "a"), view.Of(own), ": own → a, and own; "},
	} {
		assert.ErrorContains(t, view.Union(test.one, test.other).Err(), test.ways, name)
	}
	others := factory.Core().V1().Nodes().Informer()
	assert.NoError(t, view.Union(over(pods, "a"), over(others, "b")).Err())
	assert.NoError(t, view.Union(over(nil, "a"), over(nil, "b")).Err(), "Run says what is wrong with them")
}

// fromFactory returns the source of a factory's Pods.
func fromFactory(factory informers.SharedInformerFactory) source.Source[*corev1.Pod] {
	return adapters.FromFactory[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
}

// embedding wraps an informer as client-go's typed ones have theirs.
type embedding struct{ cache.SharedIndexInformer }
