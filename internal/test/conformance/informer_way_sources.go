package conformance

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// composed returns the subjects whose sources are made of others.
func composed(f format, streamed bool) []subject {
	switch f {
	case json:
		return []subject{podsByNamespace(f, streamed)}
	case protobuf:
		return []subject{projectedPods(f, streamed)}
	default:
		return nil
	}
}

// podsByNamespace gets the pods of a namespace as those of a set of one.
func podsByNamespace(f format, streamed bool) subject {
	w := typedPods(f, streamed)
	w.name = "pods by namespace"
	whole := w.source
	w.source = func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[*corev1.Pod] {
		if namespace == "" {
			return whole(c, r, namespace, g, opts)
		}
		return source.FromNamespaces(source.NewNamespaces(namespace), func(namespace string) source.Source[*corev1.Pod] {
			return whole(c, r, namespace, g, opts)
		})
	}
	return w
}

// projectedPods gets pods, and keeps nothing but their metadata.
func projectedPods(f format, streamed bool) subject {
	whole := typedPods(f, streamed)
	return &way[*metav1.PartialObjectMetadata]{
		name: "projected pods", format: f, streamed: streamed, resource: pods,
		source: func(c *check, r resource, namespace string, g *gate, opts []kube.SourceOption) source.Source[*metav1.PartialObjectMetadata] {
			return source.Map(whole.source(c, r, namespace, g, opts), metadataOfPod)
		},
		accept: runtime.ContentTypeJSON,
		decode: func(data []byte) ([]*metav1.PartialObjectMetadata, error) {
			pods, err := decodeItems[corev1.Pod](data)
			objs := make([]*metav1.PartialObjectMetadata, len(pods))
			for i, pod := range pods {
				objs[i] = metadataOfPod(pod)
			}
			return objs, err
		},
	}
}

func metadataOfPod(p *corev1.Pod) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}
}
