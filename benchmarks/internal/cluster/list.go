package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ListOf returns pods as the answer to a list request. It is the type of list
// that client-go makes of one that came in pages. A *corev1.PodList would make
// the Reflector, which all sides use, copy every Pod.
func ListOf(pods []*corev1.Pod, resourceVersion string) runtime.Object {
	list := &internalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: resourceVersion}}
	for _, pod := range pods {
		list.Items = append(list.Items, pod)
	}
	return list
}
