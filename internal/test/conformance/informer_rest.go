package conformance

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// The ways of this file are those of FromREST.

// restPods gets registered types, whose resource has to be found.
func restPods(f format, streamed bool) subject {
	return typedPods(f, streamed).fromREST("rest/pods", false)
}

func restCustoms(f format, streamed bool) subject {
	return unstructuredCustoms(f, streamed).fromREST("rest/customs", true)
}

func restMetadata(f format, streamed bool) subject {
	return podMetadata(f, streamed).fromREST("rest/metadata", true)
}

// fromREST changes the name and the source of a way.
func (w *way[T]) fromREST(name string, named bool) *way[T] {
	w.name, w.source = name, restSource[T](named)
	return w
}

// custom is a custom resource as a Go type that no scheme knows, with some of its
// fields.
type custom struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size int64 `json:"size"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func restStructs(f format, streamed bool) subject {
	return &way[*custom]{
		name: "rest/structs", format: f, streamed: streamed, resource: customs,
		source: restSource[*custom](true),
		accept: runtime.ContentTypeJSON,
		decode: decodeItems[custom],
		plain: func(c *custom) *custom {
			own := *c
			own.TypeMeta = metav1.TypeMeta{}
			return &own
		},
		phase: func(c *custom) string { return c.Status.Phase },
	}
}

// packedPod is a Pod as bytes, and its metadata.
type packedPod struct {
	metav1.ObjectMeta `json:"metadata"`
	kube.Packed[*corev1.Pod]

	whole *corev1.Pod // what the bytes are; nil: they were not decoded
}

func (p *packedPod) GetName() string                    { return p.ObjectMeta.Name }
func (p *packedPod) GetNamespace() string               { return p.ObjectMeta.Namespace }
func (p *packedPod) GetUID() types.UID                  { return p.ObjectMeta.UID }
func (p *packedPod) GetResourceVersion() string         { return p.ObjectMeta.ResourceVersion }
func (p *packedPod) GetDeletionTimestamp() *metav1.Time { return p.ObjectMeta.DeletionTimestamp }

// decoded returns the object with what its bytes are in their place.
func (p *packedPod) decoded() *packedPod {
	if p.whole != nil {
		return p
	}
	whole, err := p.Object()
	if err != nil { // so it is unlike any other
		whole = &corev1.Pod{Status: corev1.PodStatus{Message: err.Error()}}
	}
	return &packedPod{ObjectMeta: p.ObjectMeta, whole: whole}
}

func restPacked(f format, streamed bool) subject {
	return &way[*packedPod]{
		name: "rest/packed", format: f, streamed: streamed, resource: pods,
		source: restSource[*packedPod](true),
		accept: runtime.ContentTypeJSON,
		decode: func(data []byte) ([]*packedPod, error) {
			pods, err := decodeItems[corev1.Pod](data)
			all := make([]*packedPod, len(pods))
			for i, pod := range pods {
				all[i] = &packedPod{ObjectMeta: pod.ObjectMeta, whole: pod}
			}
			return all, err
		},
		plain: (*packedPod).decoded,
		phase: func(p *packedPod) string { return string(p.decoded().whole.Status.Phase) },
	}
}

// restSource returns the source of a way. With named, it passes the resource to the source.
func restSource[T object](named bool) func(*check, resource, string, *gate, []kube.SourceOption) source.Source[T] {
	return func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[T] {
		own := append(slices.Clone(opts), kube.WithNamespace(namespace))
		if named {
			own = append(own, kube.WithResource(r.gvr))
		}
		return kube.FromREST[T](g.config(c.config, r.gvr.Resource), own...)
	}
}
