package apitest

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
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
func (c *collection) clearStatus(obj runtime.Object) {
	if c.clearsStatus() {
		copyStatus(c.newObject(), obj)
	}
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
func copyVersion(from, to runtime.Object) {
	metadataOf(to).SetResourceVersion(metadataOf(from).GetResourceVersion())
}

// equal reports whether two objects are the same.
func (c *collection) equal(a, b runtime.Object) bool {
	return c.compare(a, b, func() bool { return equality.Semantic.DeepEqual(a, b) },
		func(a, b map[string]any) bool { return equality.Semantic.DeepEqual(a, b) })
}

// sameContent reports whether two objects differ in nothing but metadata and, if that is a
// subresource, status.
func (c *collection) sameContent(a, b runtime.Object) bool {
	if ua, ok := a.(*unstructured.Unstructured); ok {
		return c.sameFields(ua.Object, b.(*unstructured.Unstructured).Object)
	}
	return c.compare(a, b, func() bool { return c.sameStruct(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()) }, c.sameFields)
}

// compare compares two objects as Go values, or in JSON if they have fields that are not exported,
// such as a time.Time has, at which the former panics.
func (c *collection) compare(a, b runtime.Object, values func() bool, inJSON func(a, b map[string]any) bool) bool {
	compared := func() (same, ok bool) {
		defer func() { _ = recover() }()
		return values(), true
	}
	if !c.private.Load() {
		if same, ok := compared(); ok {
			return same
		}
		c.private.Store(true)
	}
	before, err := asJSON(a)
	if err != nil {
		return false
	}
	after, err := asJSON(b)
	return err == nil && inJSON(before, after)
}

func asJSON(obj runtime.Object) (map[string]any, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	return content, json.Unmarshal(text, &content)
}

func (c *collection) sameStruct(a, b reflect.Value) bool {
	for i := range a.NumField() {
		switch name := a.Type().Field(i).Name; {
		case name == "TypeMeta", name == "ObjectMeta", name == "Status" && c.status:
			continue
		}
		if !equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
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
