package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFromSharedOmits what the shared informer does, if that is one of this module's.
func TestFromSharedOmits(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	masked := listwatch.NewDecoding(&cache.ListWatch{}, &corev1.Pod{}, kind, true, kube.WithFields("status.phase"))
	whole := listwatch.NewDecoding(&cache.ListWatch{}, &corev1.Pod{}, kind, true)
	omits := func(of cache.SharedInformer) bool {
		return source.Omits(adapters.FromShared[*corev1.Pod](of), "metadata.labels")
	}
	assert.True(t, omits(adapters.NewSharedIndexInformer(masked, &corev1.Pod{}, 0, cache.Indexers{})))
	assert.False(t, omits(adapters.NewSharedIndexInformer(whole, &corev1.Pod{}, 0, cache.Indexers{})))
	assert.False(t, omits(cache.NewSharedIndexInformer(masked, &corev1.Pod{}, 0, cache.Indexers{})), "which cannot tell")
}
