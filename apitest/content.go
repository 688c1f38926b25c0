package apitest

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// copyStatus makes the status of to that of from, which may be shared. Both are
// of one type.
func copyStatus(from, to runtime.Object) {
	if f, ok := from.(*unstructured.Unstructured); ok {
		t := to.(*unstructured.Unstructured)
		if status, has := f.Object["status"]; has {
			t.Object["status"] = status
		} else {
			delete(t.Object, "status")
		}
		return
	}
	source := reflect.ValueOf(from).Elem().FieldByName("Status")
	if target := reflect.ValueOf(to).Elem().FieldByName("Status"); target.IsValid() {
		target.Set(source)
	}
}

// clearsStatus reports whether a create leaves the status aside. That of a Node has it: nodes
// register themselves with theirs.
func (c *collection) clearsStatus() bool {
	return c.status && c.kind.GroupKind() != schema.GroupKind{Kind: "Node"}
}

// clearStatus makes the status of an object that of an empty one, if a create does.
func (c *collection) clearStatus(obj runtime.Object) error {
	if !c.clearsStatus() {
		return nil
	}
	empty, err := c.newObject()
	if err == nil {
		copyStatus(empty, obj)
	}
	return err
}

// metadataOf returns the metadata of two objects.
func metadataOf(a, b runtime.Object) (of, other metav1.Object, err error) {
	if of, err = meta.Accessor(a); err == nil {
		other, err = meta.Accessor(b)
	}
	return of, other, err
}

// copyManagedFields makes the managed fields of to those of from.
func copyManagedFields(from, to runtime.Object) error {
	source, target, err := metadataOf(from, to)
	if err == nil {
		target.SetManagedFields(source.GetManagedFields())
	}
	return err
}

// dropRepeatedOwners removes references to owners that repeat another one in all fields.
func dropRepeatedOwners(m metav1.Object) {
	refs := m.GetOwnerReferences()
	var distinct []metav1.OwnerReference
	for _, ref := range refs {
		if !slices.ContainsFunc(distinct, func(other metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(ref, other) }) {
			distinct = append(distinct, ref)
		}
	}
	if len(distinct) < len(refs) {
		m.SetOwnerReferences(distinct)
	}
}

// copyVersion gives an object the resource version of another one.
func copyVersion(from, to runtime.Object) error {
	source, target, err := metadataOf(from, to)
	if err == nil {
		target.SetResourceVersion(source.GetResourceVersion())
	}
	return err
}

// sameContent reports whether two objects differ in nothing but metadata and, if that is a
// subresource, status.
func (c *collection) sameContent(a, b runtime.Object) bool {
	if ua, ok := a.(*unstructured.Unstructured); ok {
		return c.sameFields(ua.Object, b.(*unstructured.Unstructured).Object)
	}
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range va.NumField() {
		switch name := va.Type().Field(i).Name; {
		case name == "TypeMeta", name == "ObjectMeta", name == "Status" && c.status:
			continue
		}
		if !equality.Semantic.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func (c *collection) sameFields(a, b map[string]any) bool {
	for _, pair := range [][2]map[string]any{{a, b}, {b, a}} {
		for field, value := range pair[0] {
			switch {
			case field == "apiVersion", field == "kind", field == "metadata", field == "status" && c.status:
				continue
			}
			if other, has := pair[1][field]; !has || !equality.Semantic.DeepEqual(value, other) {
				return false
			}
		}
	}
	return true
}
