//go:build !race

package generic

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
)

// resource is one kind of objects that the server serves.
type resource struct {
	version    schema.GroupVersion
	kind       string
	plural     string
	namespaced bool
	status     bool                        // has the subresource
	generation bool                        // counts the changes of the spec
	validName  validation.ValidateNameFunc // nil: what can be part of a URL

	// fields can be selected, besides name and namespace.
	fields map[string]func(runtime.Object) string
}

var resources = []resource{
	{version: corev1.SchemeGroupVersion, kind: "Namespace", plural: "namespaces",
		status: true, validName: validation.ValidateNamespaceName},
	{version: corev1.SchemeGroupVersion, kind: "Node", plural: "nodes",
		status: true, validName: validation.NameIsDNSSubdomain},
	{version: corev1.SchemeGroupVersion, kind: "Pod", plural: "pods", namespaced: true,
		status: true, generation: true, validName: validation.NameIsDNSSubdomain,
		fields: map[string]func(runtime.Object) string{
			"spec.nodeName": func(obj runtime.Object) string { return obj.(*corev1.Pod).Spec.NodeName },
			"status.phase":  func(obj runtime.Object) string { return string(obj.(*corev1.Pod).Status.Phase) },
		}},
	{version: corev1.SchemeGroupVersion, kind: "ConfigMap", plural: "configmaps", namespaced: true,
		validName: validation.NameIsDNSSubdomain},
	{version: corev1.SchemeGroupVersion, kind: "Secret", plural: "secrets", namespaced: true,
		validName: validation.NameIsDNSSubdomain},
	{version: corev1.SchemeGroupVersion, kind: "Service", plural: "services", namespaced: true,
		status: true, validName: validation.NameIsDNSLabel},
	{version: corev1.SchemeGroupVersion, kind: "Event", plural: "events", namespaced: true,
		validName: validation.NameIsDNSSubdomain},
	{version: appsv1.SchemeGroupVersion, kind: "Deployment", plural: "deployments", namespaced: true,
		status: true, generation: true, validName: validation.NameIsDNSSubdomain},
	{version: appsv1.SchemeGroupVersion, kind: "ReplicaSet", plural: "replicasets", namespaced: true,
		status: true, generation: true, validName: validation.NameIsDNSSubdomain},
	{version: appsv1.SchemeGroupVersion, kind: "ControllerRevision", plural: "controllerrevisions", namespaced: true,
		validName: validation.NameIsDNSSubdomain},
	{version: coordinationv1.SchemeGroupVersion, kind: "Lease", plural: "leases", namespaced: true,
		validName: validation.NameIsDNSSubdomain},
	// No more than stored: authorization does not ask what it says.
	{version: rbacv1.SchemeGroupVersion, kind: "ClusterRole", plural: "clusterroles"},
}

func (r resource) listKind() string { return r.kind + "List" }

// storages returns what serves the resource and its subresource, each under its
// name in a URL.
func (r resource) storages(scheme *runtime.Scheme, options genericregistry.RESTOptionsGetter) (map[string]rest.Storage, error) {
	rules := strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, resource: r}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return r.new(scheme, r.kind) },
		NewListFunc:               func() runtime.Object { return r.new(scheme, r.listKind()) },
		DefaultQualifiedResource:  r.version.WithResource(r.plural).GroupResource(),
		SingularQualifiedResource: r.version.WithResource(strings.ToLower(r.kind)).GroupResource(),
		CreateStrategy:            rules,
		UpdateStrategy:            rules,
		DeleteStrategy:            rules,
		TableConvertor:            rest.NewDefaultTableConvertor(r.version.WithResource(r.plural).GroupResource()),
	}
	if err := store.CompleteWithOptions(&genericregistry.StoreOptions{RESTOptions: options, AttrFunc: r.attributes}); err != nil {
		return nil, fmt.Errorf("make storage of %s: %w", r.plural, err)
	}
	storages := map[string]rest.Storage{r.plural: store}
	if r.status {
		storages[r.plural+"/status"] = newStatusStorage(store, rules)
	}
	return storages, nil
}

// new returns an empty object. The scheme has the kind, since newScheme has
// made one of it before.
func (r resource) new(scheme *runtime.Scheme, kind string) runtime.Object {
	obj, err := scheme.New(r.version.WithKind(kind))
	if err != nil {
		panic(err)
	}
	return obj
}

// attributes returns what of an object can be selected.
func (r resource) attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	attributes := storage.DefaultClusterScopedAttr
	if r.namespaced {
		attributes = storage.DefaultNamespaceScopedAttr
	}
	labelSet, fieldSet, err := attributes(obj)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range r.fields {
		fieldSet[name] = value(obj)
	}
	return labelSet, fieldSet, nil
}

// selectable is the scheme's check of one term of a field selector, which it
// returns as it is or refuses.
func (r resource) selectable(name, value string) (string, string, error) {
	if _, ok := r.fields[name]; ok {
		return name, value, nil
	}
	return runtime.DefaultMetaV1FieldSelectorConversion(name, value)
}
