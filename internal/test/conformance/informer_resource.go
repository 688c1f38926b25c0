package conformance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is what an informer is checked with.
type resource struct {
	gvr           schema.GroupVersionResource
	kind          string
	clusterScoped bool
	graceful      bool           // objects are marked before they are deleted
	status        bool           // has a status with a phase
	selectsPhase  bool           // objects can be selected by it
	content       map[string]any // of a new object, without metadata
}

func pods(Rig) resource {
	return resource{
		gvr: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, kind: "Pod", graceful: true, status: true, selectsPhase: true,
		content: map[string]any{"spec": map[string]any{
			"schedulerName": "nobody.example.com", // where there is a scheduler, it leaves them alone
			"containers":    []any{map[string]any{"name": "a", "image": "a:1"}},
		}},
	}
}

func clusterRoles(Rig) resource {
	return resource{
		gvr:  schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		kind: "ClusterRole", clusterScoped: true,
	}
}

func customs(rig Rig) resource {
	return resource{
		gvr: rig.CustomResource, kind: rig.CustomKind, status: true,
		content: map[string]any{"spec": map[string]any{"size": int64(1), "half": 0.5, "tags": []any{"a", nil, true}}},
	}
}

// object returns a new object.
func (r resource) object(meta metav1.ObjectMeta) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(r.content)}
	if obj.Object == nil {
		obj.Object = map[string]any{}
	}
	obj.SetGroupVersionKind(r.gvr.GroupVersion().WithKind(r.kind))
	obj.SetName(meta.Name)
	obj.SetLabels(meta.Labels)
	obj.SetFinalizers(meta.Finalizers)
	return obj
}

// path returns the URL path of the objects of a namespace, or of all of them.
func (r resource) path(namespace string) string {
	path := "/api/" + r.gvr.Version
	if r.gvr.Group != "" {
		path = "/apis/" + r.gvr.GroupVersion().String()
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.gvr.Resource
}
