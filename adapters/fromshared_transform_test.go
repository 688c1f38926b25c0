package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestTransformOverASharedInformer: a transform modifies copies, even behind other sources. Without
// one, the objects are the shared informer's.
func TestTransformOverASharedInformer(t *testing.T) {
	managed := func(name string, version int) *corev1.Pod {
		pod := sharedPod(name, version)
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		return pod
	}
	strip := typed.WithTransform(kube.StripManagedFields[*corev1.Pod])
	for name, wrap := range map[string]func(source.Source[*corev1.Pod]) source.Source[*corev1.Pod]{
		"alone": func(src source.Source[*corev1.Pod]) source.Source[*corev1.Pod] { return src },
		"projected": func(src source.Source[*corev1.Pod]) source.Source[*corev1.Pod] {
			return source.FilterMap(src, func(pod *corev1.Pod) (*corev1.Pod, bool) { return pod, true })
		},
		"of a namespace": func(src source.Source[*corev1.Pod]) source.Source[*corev1.Pod] {
			return source.FromNamespaces(source.NewNamespaces(managed("a", 1).Namespace), func(string) source.Source[*corev1.Pod] { return src })
		},
	} {
		for _, transformed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stub := newSharedStub()
					var opts []typed.Option
					if transformed {
						opts = append(opts, strip)
					}
					pods := typed.NewInformer(wrap(adapters.FromShared[*corev1.Pod](stub)), opts...)
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error)
					go func() { ended <- pods.Run(ctx) }()
					synctest.Wait()
					first, second, last := managed("a", 1), managed("b", 2), managed("a", 3)
					stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(first, true) })
					close(stub.synced)
					require.NoError(t, pods.WaitForSync(t.Context()))
					stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(second, false) })
					synctest.Wait()
					require.Equal(t, 2, pods.Len())
					for pod := range pods.All() {
						assert.Equal(t, transformed, len(pod.ManagedFields) == 0)
						assert.Equal(t, transformed, pod != first && pod != second)
					}
					stub.send(func(h cache.ResourceEventHandler) { h.OnDelete(last) })
					synctest.Wait()
					require.Equal(t, 1, pods.Len())
					for _, pod := range []*corev1.Pod{first, second, last} {
						assert.Len(t, pod.ManagedFields, 1, "it is the shared informer's")
					}
					cancel()
					require.NoError(t, <-ended)
				})
			})
		}
	}
}

// uncopied is an object that cannot be copied.
type uncopied struct{ metav1.ObjectMeta }

// TestTransformOfUncopyableObjects is refused, over objects of others.
func TestTransformOfUncopyableObjects(t *testing.T) {
	objects := adapters.FromShared[*uncopied](newSharedStub())
	err := objects.Run(t.Context(), &sinktest.Recorder[*uncopied]{Modifies: true})
	assert.ErrorContains(t, err, "has no method DeepCopy")
}
