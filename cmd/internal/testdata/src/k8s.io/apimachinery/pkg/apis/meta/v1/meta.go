// Package v1 is a stub.
package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

type TypeMeta struct{ Kind, APIVersion string }

func (t *TypeMeta) GetObjectKind() schema.ObjectKind { return t }

func (t *TypeMeta) SetGroupVersionKind(gvk schema.GroupVersionKind) { t.Kind = gvk.Kind }

func (t *TypeMeta) GroupVersionKind() schema.GroupVersionKind { return schema.GroupVersionKind{} }

type OwnerReference struct{ Name string }

type ObjectMeta struct {
	Name, Namespace, ResourceVersion string
	Labels, Annotations              map[string]string
	OwnerReferences                  []OwnerReference
	Finalizers                       []string
}

type Object interface {
	GetName() string
	GetNamespace() string
	GetResourceVersion() string
	SetResourceVersion(string)
	GetLabels() map[string]string
	SetLabels(map[string]string)
	GetAnnotations() map[string]string
	SetAnnotations(map[string]string)
}

func (m *ObjectMeta) GetName() string                    { return m.Name }
func (m *ObjectMeta) GetNamespace() string               { return m.Namespace }
func (m *ObjectMeta) GetResourceVersion() string         { return m.ResourceVersion }
func (m *ObjectMeta) SetResourceVersion(v string)        { m.ResourceVersion = v }
func (m *ObjectMeta) GetLabels() map[string]string       { return m.Labels }
func (m *ObjectMeta) SetLabels(l map[string]string)      { m.Labels = l }
func (m *ObjectMeta) GetAnnotations() map[string]string  { return m.Annotations }
func (m *ObjectMeta) SetAnnotations(a map[string]string) { m.Annotations = a }
