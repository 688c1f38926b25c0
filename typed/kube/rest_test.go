package kube_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

var (
	podResource     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	networkResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}
)

func newNetwork(name, cidr string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Network",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"cidr": cidr, "size": int64(7)},
	}}
}

// inFormats runs a test with objects that are streamed and listed, in JSON and in
// protobuf.
func inFormats(t *testing.T, config *rest.Config, test func(*testing.T, *rest.Config, ...kube.SourceOption)) {
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for name, opts := range map[string][]kube.SourceOption{"streamed": nil, "listed": {kube.WithoutWatchList()}} {
			t.Run(format+"/"+name, func(t *testing.T) {
				own := rest.CopyConfig(config)
				own.ContentType = format
				test(t, own, opts...)
			})
		}
	}
}

// keeps runs a source that reports one object by its list and another one by its
// watch, which create makes, and returns both.
func keeps[T index.Object](t *testing.T, srv *apitest.Server, src source.Source[T], create apitest.Object) (listed, watched T) {
	m := mirrored(t, src)
	m.waitForSync(t)
	require.Len(t, m.all(), 1)
	listed = m.all()[0].(T)
	require.NoError(t, srv.Create(t.Context(), create))
	m.waitForVersion(t, srv.ResourceVersion())
	require.Len(t, m.all(), 2)
	watched = m.get(t, index.KeyOf[index.Object](create)).(T)
	require.NoError(t, srv.Delete(t.Context(), create))
	m.waitForVersion(t, srv.ResourceVersion())
	assert.Equal(t, []index.Object{listed}, m.all())
	return listed, watched
}

// TestTypeMeta: objects have a kind if they are to have one, wherever they come
// from.
func TestTypeMeta(t *testing.T) {
	srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: networkResource, Kind: "Network"}))
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", ""), newNetwork("a", "10.0.0.0/8")))
	pod, other := metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Network"}
	with := kube.WithTypeMeta()
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		listed, watched := keeps(t, srv, kube.FromREST[*corev1.Pod](config, opts...), rig.NewPod("b", ""))
		assert.Equal(t, [2]metav1.TypeMeta{}, [2]metav1.TypeMeta{listed.TypeMeta, watched.TypeMeta})
		listed, watched = keeps(t, srv, kube.FromREST[*corev1.Pod](config, append(opts, with)...), rig.NewPod("b", ""))
		assert.Equal(t, [2]metav1.TypeMeta{pod, pod}, [2]metav1.TypeMeta{listed.TypeMeta, watched.TypeMeta})

		partial, watchedPartial := keeps(t, srv, kube.FromREST[*metav1.PartialObjectMetadata](config, append(opts, kube.WithResource(podResource))...), rig.NewPod("b", ""))
		assert.Equal(t, [2]metav1.TypeMeta{}, [2]metav1.TypeMeta{partial.TypeMeta, watchedPartial.TypeMeta})
		partial, watchedPartial = keeps(t, srv, kube.FromREST[*metav1.PartialObjectMetadata](config, append(opts, kube.WithResource(podResource), with)...), rig.NewPod("b", ""))
		assert.Equal(t, [2]metav1.TypeMeta{pod, pod}, [2]metav1.TypeMeta{partial.TypeMeta, watchedPartial.TypeMeta}, "that of the object")

		custom, watchedCustom := keeps(t, srv, kube.FromREST[*Network](config, append(opts, kube.WithResource(networkResource))...), newNetwork("b", "10.1.0.0/16"))
		assert.Equal(t, [2]metav1.TypeMeta{}, [2]metav1.TypeMeta{custom.TypeMeta, watchedCustom.TypeMeta})
		custom, watchedCustom = keeps(t, srv, kube.FromREST[*Network](config, append(opts, kube.WithResource(networkResource), with)...), newNetwork("b", "10.1.0.0/16"))
		assert.Equal(t, [2]metav1.TypeMeta{other, other}, [2]metav1.TypeMeta{custom.TypeMeta, watchedCustom.TypeMeta})
		assert.Equal(t, "10.0.0.0/8 10.1.0.0/16", custom.Spec.CIDR+" "+watchedCustom.Spec.CIDR)

		// The server knows their type, and leaves it out of lists.
		loose, watchedLoose := keeps(t, srv, kube.FromREST[*unstructured.Unstructured](config, append(opts, kube.WithResource(podResource))...), rig.NewPod("b", ""))
		for _, u := range []*unstructured.Unstructured{loose, watchedLoose} {
			assert.Equal(t, "v1 Pod", u.GetAPIVersion()+" "+u.GetKind())
		}
	})
}

func TestNeededFields(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1")))
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		listed, watched := keeps(t, srv, kube.FromREST[*slimPod](config, append(opts, kube.WithResource(podResource))...), rig.NewPod("b", "node-2"))
		assert.Equal(t, "a node-1", listed.GetName()+" "+listed.Spec.NodeName)
		assert.Equal(t, "b node-2", watched.GetName()+" "+watched.Spec.NodeName)
	})
}

// ofPartial embeds a type that has generated code for protobuf, which knows nothing of its other
// fields.
type ofPartial struct {
	metav1.PartialObjectMetadata
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func TestEmbeddedTypes(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1")))
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		opts = append(opts, kube.WithResource(podResource))
		one, other := keeps(t, srv, kube.FromREST[*podOfKind](config, opts...), rig.NewPod("b", "node-2"))
		assert.Equal(t, "a node-1, b node-2", one.Name+" "+one.Spec.NodeName+", "+other.Name+" "+other.Spec.NodeName)
		first, second := keeps(t, srv, kube.FromREST[*ofPartial](config, opts...), rig.NewPod("b", "node-2"))
		assert.Equal(t, "a node-1, b node-2", first.Name+" "+first.Spec.NodeName+", "+second.Name+" "+second.Spec.NodeName)
	})
}

// TestNamespaceAndSelector: the server is asked for no more than that.
func TestNamespaceAndSelector(t *testing.T) {
	srv := apitest.Start(t)
	elsewhere := rig.NewPod("b", "")
	elsewhere.Namespace = "elsewhere"
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", ""), elsewhere))
	all := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config(), kube.WithNamespace(metav1.NamespaceAll)))
	one := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config(), kube.WithNamespace("elsewhere")))
	require.NoError(t, all.WaitForSync(rig.Start(t, all)))
	require.NoError(t, one.WaitForSync(rig.Start(t, one)))
	assert.Equal(t, 2, all.Len())
	assert.Equal(t, "b", one.List()[0].Name)
}

// TestProgressOfList: while a list arrives, Status reports its progress.
func TestProgressOfList(t *testing.T) {
	srv := apitest.Start(t)
	for i := range 1200 {
		require.NoError(t, srv.Create(t.Context(), rig.NewPod(fmt.Sprint("pod-", i), "")))
	}
	src := kube.FromREST[*corev1.Pod](srv.Config(), kube.WithoutWatchList())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	progress := &listSink{synced: cancel}
	require.NoError(t, src.Run(ctx, progress))
	assert.Equal(t, 1200, progress.objects)
	assert.Contains(t, progress.steps, [2]int{100, 0})
	assert.Contains(t, progress.steps, [2]int{1100, 0})
	assert.Contains(t, progress.steps, [2]int{1200, 1200})

	informer := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	require.NoError(t, informer.WaitForSync(rig.Start(t, informer)))
	assert.Equal(t, 1200, informer.Status().Received)
	assert.Equal(t, 1200, informer.Status().Expected)
}

// listSink notes the progress of the first list.
type listSink struct {
	source.Sink[*corev1.Pod]
	synced  func()
	objects int
	steps   [][2]int
}

func (s *listSink) Progress(received, expected int) {
	s.steps = append(s.steps, [2]int{received, expected})
}

func (*listSink) Stage(pod *corev1.Pod, _ string) source.Staged { return source.Keep(pod) }

func (s *listSink) Replace(l source.List, _ string) {
	s.objects = len(l.Items)
	s.synced()
}

func (*listSink) Decoding() (_ source.Decoding[*corev1.Pod]) { return }

func (*listSink) Report(error) {}
