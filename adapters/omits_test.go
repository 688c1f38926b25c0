package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
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

// masked is a source without objects that leaves out what one of FromREST with WithFields does.
type masked struct{}

func (masked) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	sink.Replace(source.List{Items: []source.Staged{source.LeaveOut()}}, "1")
	<-ctx.Done()
	return nil
}

func (masked) Omits(field string) bool {
	return source.Omits(kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://127.0.0.1:1"}, kube.WithFields("status.phase")), field)
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
			ended := make(chan error, 1)
			go func() { ended <- over.Run(ctx) }()
			synctest.Wait()
			select {
			case err := <-ended:
				return err
			default:
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, before := range []bool{true, false} {
					ctx, cancel := context.WithCancel(t.Context())
					namespaces := source.NewNamespaces()
					pods := typed.NewInformer(source.FromNamespaces(namespaces, func(string) source.Source[*corev1.Pod] {
						return source.FilterMap(source.Source[*corev1.Pod](masked{}), func(p *corev1.Pod) (*corev1.Pod, bool) { return p, true })
					}))
					ended := make(chan error, 1)
					go func() { ended <- pods.Run(ctx) }()
					synctest.Wait()
					if before {
						assert.NoError(t, need(ctx, pods))
					}
					namespaces.Add("shop")
					synctest.Wait()
					if before {
						require.NotEmpty(t, ended, "it goes on")
						assert.ErrorContains(t, <-ended, "source omits metadata.")
					} else {
						assert.ErrorContains(t, need(ctx, pods), "omits")
					}
					cancel()
					synctest.Wait()
				}
			})
		})
	}
}
