package kube_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFields: objects have the fields that are asked for, in every format, from the
// list, from watches, and for informers with a transform.
func TestFields(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	create := func(name string) {
		pod := tolerant(name)
		pod.Spec.NodeName, pod.Labels = "node-1", map[string]string{"app": "shop"}
		require.NoError(t, srv.Create(t.Context(), pod))
	}
	create("listed")
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		fields := append(opts[:len(opts):len(opts)], kube.WithFields("spec.nodeName"))
		same := func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }
		for _, pods := range []*typed.Informer[*corev1.Pod]{
			typed.NewInformer(kube.FromREST[*corev1.Pod](config, fields...)),
			typed.NewInformer(kube.FromREST[*corev1.Pod](config, fields...), typed.WithTransform(same)),
		} {
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			for pod := range pods.All() {
				assert.Equal(t, "node-1", pod.Spec.NodeName)
				assert.NotEmpty(t, pod.UID)
				assert.NotEmpty(t, pod.ResourceVersion)
				assert.Empty(t, pod.Labels)
				assert.Empty(t, pod.Spec.Tolerations)
			}
		}
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, append(opts, kube.WithoutFields("spec.tolerations"))...))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
		create(name)
		require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
		pod, ok := pods.Get(index.Key{Namespace: "default", Name: name})
		require.True(t, ok)
		assert.Equal(t, "shop", pod.Labels["app"])
		assert.Empty(t, pod.Spec.Tolerations)
	})
	objects := typed.NewInformer(kube.FromREST[*unstructured.Unstructured](srv.Config(), kube.WithResource(corev1.SchemeGroupVersion.WithResource("pods")), kube.WithFields("spec.nodeName")))
	ctx := rig.Start(t, objects)
	require.NoError(t, objects.WaitForSync(ctx))
	for obj := range objects.All() {
		assert.Equal(t, map[string]any{"nodeName": "node-1"}, obj.Object["spec"])
		assert.NotEmpty(t, obj.GetUID())
		assert.Equal(t, "Pod", obj.GetKind())
	}
}

// TestBadFields: every function that returns an error rejects wrong paths and options.
func TestBadFields(t *testing.T) {
	t.Parallel()
	config := &rest.Config{Host: "http://example.com"}
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	for message, src := range map[string]source.Source[*corev1.Pod]{
		`no field "spec.nodename": the nearest is "spec.nodeName"`: kube.FromREST[*corev1.Pod](config, kube.WithFields("spec.nodename")),
		`no field "status.fase": the nearest is "status.phase"`:    kube.FromClient(clientset.CoreV1().Pods(""), kube.WithoutFields("status.fase")),
		`WithoutFields: the field "metadata" identifies objects`:   kube.FromREST[*corev1.Pod](config, kube.WithoutFields("metadata")),
		`give one of them, once`:                                   kube.FromREST[*corev1.Pod](config, kube.WithFields("spec"), kube.WithoutFields("status")),
		`Elsewhere client-go decodes objects`:                      kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithFields("spec")),
	} {
		assert.ErrorContains(t, typed.NewInformer(src).Run(t.Context()), message)
	}
	_, err = kube.NewWriter[*corev1.Pod](config, kube.WithFields("spec"))
	assert.ErrorContains(t, err, "WithFields or WithoutFields: for what lists and watches")
}
