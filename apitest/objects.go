package apitest

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects returns the objects of a type that a server has now, by namespace and name,
// without HTTP, as generated clients return them, which leave kind and version out: T is
// a type of the scheme, or the Type of a [Resource]. The data that they point to is shared and
// must not be modified, which AsDec of a quantity does. It returns an error for a type of no
// resource, such as unstructured content, which names no kind.
func Objects[T Object](s *Server) ([]T, error) {
	pointer := reflect.TypeFor[T]()
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("objects: %v is no pointer to a struct", pointer)
	}
	example := reflect.New(pointer.Elem()).Interface().(T)
	c, err := s.catalog.find(example)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	versions, _, err := c.table.List("", "", 0)
	if err != nil {
		return nil, fmt.Errorf("objects: %s: %w", c.groupResource(), err)
	}
	all := make([]T, 0, len(versions))
	for _, v := range versions {
		v, err := c.view(v)
		if err != nil {
			return nil, fmt.Errorf("objects: %s: %w", c.groupResource(), err)
		}
		obj, err := as[T](v.Object)
		if err != nil {
			return nil, fmt.Errorf("objects: %s: %w", c.groupResource(), err)
		}
		all = append(all, obj)
	}
	return all, nil
}

// as returns an object of the store as a T.
func as[T Object](obj runtime.Object) (T, error) {
	copied := reflect.New(reflect.TypeFor[T]().Elem())
	made := copied.Interface().(T)
	if _, same := obj.(T); same {
		copied.Elem().Set(reflect.ValueOf(obj).Elem())
		if known, ok := copied.Interface().(runtime.Object); ok {
			known.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		}
		return made, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, made)
	}
	return made, err
}
