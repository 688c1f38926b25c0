package adapters_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// implementation makes informers: all that the contract knows about one. A test
// that asks for the name is no contract.
type implementation struct {
	name        string
	simple      func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer
	withOptions func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer
	typedPods   func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.TypedSharedIndexInformer[*corev1.Pod]
}

// implementations have to pass the contract, and pass it alike.
var implementations = []implementation{
	{"client-go", cache.NewSharedIndexInformer, cache.NewSharedIndexInformerWithOptions, clientGoTypedPods},
	{"typed", adapters.NewSharedIndexInformer, adapters.NewSharedIndexInformerWithOptions, adapters.NewTypedSharedIndexInformer[*corev1.Pod]},
	{packed, packedSimple, packedWithOptions, adapters.NewTypedSharedIndexInformer[*corev1.Pod]},
}

func clientGoTypedPods(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.TypedSharedIndexInformer[*corev1.Pod] {
	return cache.NewTypedSharedIndexInformer[*corev1.Pod](cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, options))
}
