package adapters_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	testrig "github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
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

// TestFieldsOfSourcesOpenedLater: an informer can learn late that a field is left out, for example
// from a set of namespaces that was empty. Run then returns an error if code in client-go's shape
// needs the field, and later code gets its own error.
func TestFieldsOfSourcesOpenedLater(t *testing.T) {
	owners := func() typed.Handler[*corev1.Pod] {
		q := control.AdderFunc[index.Key](func(index.Key) {})
		return control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"})
	}
	for name, need := range map[string]func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error{
		"handler of client-go's shape": func(_ context.Context, pods *typed.Informer[*corev1.Pod]) error {
			_, err := adapters.SharedIndexInformer(pods).AddEventHandler(adapters.ResourceEventHandler(owners()))
			return err
		},
		"typed handler of client-go's shape": func(_ context.Context, pods *typed.Informer[*corev1.Pod]) error {
			_, err := adapters.SharedIndexInformer(pods).AddTypedEventHandler(adapters.TypedResourceEventHandler(owners()))
			return err
		},
		"index over a shared informer": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			over := typed.NewInformer(adapters.FromShared[*corev1.Pod](adapters.SharedIndexInformer(pods)))
			if err := over.AddIndexes(index.Labels[*corev1.Pod]("app")); err != nil {
				return err
			}
			return testrig.EndsAtOnce(ctx, over)
		},
	} {
		t.Run(name, func(t *testing.T) {
			testrig.OpenLater(t, kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://127.0.0.1:1"}, kube.WithFields("status.phase")), need)
		})
	}
}
