package cluster

import (
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ListOf returns objects as the answer to a list request. It is the type of list
// that client-go makes of one that came in pages. A *corev1.PodList would make
// the Reflector, which all sides use, copy every Pod.
func ListOf[T runtime.Object](objects []T, resourceVersion string) runtime.Object {
	list := &internalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: resourceVersion}}
	for _, obj := range objects {
		list.Items = append(list.Items, obj)
	}
	return list
}
