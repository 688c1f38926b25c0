package wire

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// List puts the objects into list, an empty list object of their type, or into a
// PartialObjectMetadataList in a partial format, and returns it with the kind
// and the metadata set. The list refers to the objects' contents, which are not
// modified: it is for encoding only.
func (f Format) List(list runtime.Object, kind schema.GroupVersionKind, objects []runtime.Object, listMeta metav1.ListMeta) (runtime.Object, error) {
	if f.Partial {
		return partialList(objects, listMeta)
	}
	if l, ok := list.(*unstructured.UnstructuredList); ok {
		fillUnstructured(l, objects)
	} else if err := fillTyped(list, objects); err != nil {
		return nil, fmt.Errorf("assemble a %s: %w", kind.Kind, err)
	}
	list.GetObjectKind().SetGroupVersionKind(kind)
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("assemble a %s: %w", kind.Kind, err)
	}
	accessor.SetResourceVersion(listMeta.ResourceVersion)
	accessor.SetContinue(listMeta.Continue)
	accessor.SetRemainingItemCount(listMeta.RemainingItemCount)
	return list, nil
}

func partialList(objects []runtime.Object, listMeta metav1.ListMeta) (runtime.Object, error) {
	list := &metav1.PartialObjectMetadataList{ListMeta: listMeta, Items: make([]metav1.PartialObjectMetadata, 0, len(objects))}
	list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	for _, obj := range objects {
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *partial(accessor))
	}
	return list, nil
}

func fillUnstructured(list *unstructured.UnstructuredList, objects []runtime.Object) {
	list.Object = map[string]any{}
	list.Items = make([]unstructured.Unstructured, 0, len(objects))
	for _, obj := range objects {
		list.Items = append(list.Items, *obj.(*unstructured.Unstructured))
	}
}

// fillTyped copies the objects' structs, so that it can leave out their kind as
// API servers do for the items of typed lists.
func fillTyped(list runtime.Object, objects []runtime.Object) error {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	items := reflect.ValueOf(pointer).Elem()
	filled := reflect.MakeSlice(items.Type(), len(objects), len(objects))
	for i, obj := range objects {
		item, value := filled.Index(i), reflect.ValueOf(obj)
		if item.Kind() == reflect.Pointer {
			item.Set(reflect.New(item.Type().Elem()))
			item = item.Elem()
		}
		if value.Kind() != reflect.Pointer || !value.Elem().Type().AssignableTo(item.Type()) {
			return fmt.Errorf("%T in a list of %s", obj, item.Type())
		}
		item.Set(value.Elem())
		if o, ok := item.Addr().Interface().(runtime.Object); ok {
			o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		}
	}
	items.Set(filled)
	return nil
}
