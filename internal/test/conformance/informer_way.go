package conformance

import (
	stdjson "encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// object is what the informers of the suite keep.
type object interface {
	metav1.Object
}

// way is how an informer gets objects of type T.
type way[T object] struct {
	name     string
	format   format
	streamed bool
	resource func(Rig) resource
	// source returns what the informer gets the objects of a namespace from,
	// all namespaces if it is empty.
	source func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[T]
	// accept is the media type of a list in JSON, and decode reads it.
	accept string
	decode func([]byte) ([]T, error)
	// plain, if not nil, returns a copy without what lists and watches spell in
	// different ways.
	plain func(T) T
	// phase returns the status, if objects of this type have one.
	phase func(T) string
}

// String implements subject.
func (w *way[T]) String() string {
	if w.streamed {
		return w.name + "/streamed"
	}
	return w.name + "/listed"
}

// run implements subject.
func (w *way[T]) run(t *testing.T, newRig func(*testing.T) Rig, place Place) {
	for _, c := range informerChecks[T]() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			place(t, func(t *testing.T) { c.run(newScene(t, newRig(t), w.format, w.resource, ""), w) })
		})
	}
}

func typedPods(f format, streamed bool) *way[*corev1.Pod] {
	return &way[*corev1.Pod]{
		name: "pods", format: f, streamed: streamed, resource: pods,
		source: func(c *check, _ resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[*corev1.Pod] {
			return kube.FromClient(gatedClient[*corev1.Pod, *corev1.PodList]{c.client.CoreV1().Pods(namespace), g}, opts...)
		},
		accept: runtime.ContentTypeJSON,
		decode: decodeItems[corev1.Pod],
		phase:  func(p *corev1.Pod) string { return string(p.Status.Phase) },
	}
}

func typedClusterRoles(f format, streamed bool) subject {
	return &way[*rbacv1.ClusterRole]{
		name: "clusterroles", format: f, streamed: streamed, resource: clusterRoles,
		source: func(c *check, _ resource, _ string, g *gate, opts []kube.SourceOption) source.Source[*rbacv1.ClusterRole] {
			return kube.FromClient(gatedClient[*rbacv1.ClusterRole, *rbacv1.ClusterRoleList]{c.client.RbacV1().ClusterRoles(), g}, opts...)
		},
		accept: runtime.ContentTypeJSON,
		decode: decodeItems[rbacv1.ClusterRole],
	}
}

func unstructuredCustoms(f format, streamed bool) *way[*unstructured.Unstructured] {
	return &way[*unstructured.Unstructured]{
		name: "customs", format: f, streamed: streamed, resource: customs,
		source: func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[*unstructured.Unstructured] {
			client, err := dynamic.NewForConfig(c.config)
			require.NoError(c, err)
			objects := client.Resource(r.gvr).Namespace(namespace)
			return kube.FromListerWatcher[*unstructured.Unstructured](listWatch(g, objects), opts...)
		},
		accept: runtime.ContentTypeJSON,
		decode: func(data []byte) ([]*unstructured.Unstructured, error) {
			var list unstructured.UnstructuredList
			err := list.UnmarshalJSON(data)
			return pointers(list.Items), err
		},
		phase: func(u *unstructured.Unstructured) string {
			phase, _, err := unstructured.NestedString(u.Object, "status", "phase")
			if err != nil {
				return err.Error()
			}
			return phase
		},
	}
}

func podMetadata(f format, streamed bool) *way[*metav1.PartialObjectMetadata] {
	return &way[*metav1.PartialObjectMetadata]{
		name: "metadata", format: f, streamed: streamed, resource: pods,
		source: func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[*metav1.PartialObjectMetadata] {
			client, err := metadata.NewForConfig(c.config)
			require.NoError(c, err)
			objects := client.Resource(r.gvr).Namespace(namespace)
			return kube.FromListerWatcher[*metav1.PartialObjectMetadata](listWatch(g, objects), opts...)
		},
		accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		decode: decodeItems[metav1.PartialObjectMetadata],
		plain: func(p *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
			return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}
		},
	}
}

// decodeItems decodes the items of a list in JSON.
func decodeItems[E any](data []byte) ([]*E, error) {
	var list struct {
		Items []E `json:"items"`
	}
	err := stdjson.Unmarshal(data, &list)
	return pointers(list.Items), err
}

func pointers[E any](items []E) []*E {
	all := make([]*E, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
