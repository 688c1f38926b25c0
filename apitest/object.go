package apitest

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object is what is stored without HTTP: an object of a registered type, unstructured
// content, or a struct of the caller's own whose JSON is that of the resource.
type Object interface {
	GetName() string
	GetNamespace() string
}

// find returns the collection of an object: that of the kind it names, or of its type.
func (c *catalog) find(obj Object) (*collection, error) {
	if v := reflect.ValueOf(obj); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("no object given")
	}
	known, ok := obj.(runtime.Object)
	if !ok {
		return c.findStruct(obj)
	}
	if found, ok := c.byKind[known.GetObjectKind().GroupVersionKind()]; ok {
		return found, nil
	}
	if _, ok := obj.(runtime.Unstructured); ok {
		return nil, fmt.Errorf("no resource for kind %s", known.GetObjectKind().GroupVersionKind())
	}
	if found, ok := c.byType[reflect.TypeOf(obj)]; ok {
		return found, nil
	}
	kinds, _, err := c.scheme.ObjectKinds(known)
	if err != nil {
		return nil, fmt.Errorf("%w; register it, or describe its resource by WithResources with the Type %T", err, obj)
	}
	for _, kind := range kinds {
		if found, ok := c.byKind[kind]; ok {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no resource for %T", obj)
}

// findStruct returns the collection of an object whose type no scheme can know.
func (c *catalog) findStruct(obj Object) (*collection, error) {
	content, err := contentOf(obj)
	if err != nil {
		return nil, err
	}
	named := unstructured.Unstructured{Object: content}
	if found, ok := c.byKind[named.GroupVersionKind()]; ok {
		return found, nil
	}
	if kind := named.GroupVersionKind(); kind.Kind != "" {
		return nil, fmt.Errorf("no resource for %T, which is of the kind %s", obj, kind)
	}
	if found, ok := c.byType[reflect.TypeOf(obj)]; ok {
		return found, nil
	}
	return nil, fmt.Errorf("no resource for %T, which names no kind: describe its resource by WithResources with the Type %T", obj, obj)
}

// adopt returns a deep copy of obj as the type this resource is served in, with
// its kind set.
func (c *collection) adopt(obj Object) (runtime.Object, error) {
	own := c.newObject()
	if known, ok := obj.(runtime.Object); ok && reflect.TypeOf(own) == reflect.TypeOf(obj) {
		own = known.DeepCopyObject()
	} else if err := convert(obj, own); err != nil {
		return nil, fmt.Errorf("convert %T to %s: %w", obj, c.kind, err)
	}
	own.GetObjectKind().SetGroupVersionKind(c.kind)
	return own, nil
}

// convert copies between a Go type and what stands for the same kind.
func convert(from Object, to runtime.Object) error {
	var content map[string]any
	var err error
	if u, ok := from.(*unstructured.Unstructured); ok {
		content = runtime.DeepCopyJSON(u.Object)
	} else if content, err = contentOf(from); err != nil {
		return err
	}
	if u, ok := to.(*unstructured.Unstructured); ok {
		u.Object = content
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, to)
}

// contentOf returns an object as its JSON has it.
func contentOf(obj Object) (map[string]any, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	if err := utiljson.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("%T is no object in JSON: %w", obj, err)
	}
	var head struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%T has metadata that no server can read: %w", obj, err)
	}
	if m := head.Metadata; m.Name != obj.GetName() || m.Namespace != obj.GetNamespace() {
		return nil, fmt.Errorf("the JSON of %T is of %q in the namespace %q, while its methods return %q and %q: look at its JSON tags",
			obj, m.Name, m.Namespace, obj.GetName(), obj.GetNamespace())
	}
	return content, nil
}
