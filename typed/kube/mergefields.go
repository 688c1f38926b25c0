package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// checkLists returns an error if a patch would remove fields of the elements of a list: those that the
// server has and T does not. A merge patch replaces lists as a whole. It reads the object again if the
// patch changes a list of objects and T may have fewer fields than they have. Kubernetes' own types, such
// as metav1.Condition, are as complete as in generated clients.
func (w *Writer[T]) checkLists(ctx context.Context, old T, before *document, patch jsonObject) error {
	if w.full {
		return nil
	}
	lists := slices.DeleteFunc(changedLists(before.fields, patch, nil), func(path []string) bool {
		of := typeAt(reflect.TypeFor[T](), path)
		for of != nil && (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice) {
			of = of.Elem()
		}
		return of != nil && isComplete(of)
	})
	if len(lists) == 0 {
		return nil
	}
	result, err := w.send(ctx, w.client.requests.Get(), index.KeyOf(old), message{options: &metav1.GetOptions{}})
	if err != nil {
		return fmt.Errorf("the patch replaces the list %s, and the object cannot be read again: %w", strings.Join(lists[0], "."), err)
	}
	text, err := result.Raw()
	if err != nil {
		return err
	}
	received, err := w.decode(text)
	if err != nil {
		return err
	}
	is, err := newDocument(received, w.known.Load())
	if err != nil {
		return err
	}
	all, _ := readObject(text)
	for _, path := range lists {
		if field := lostField(all.at(path), is.fields.at(path)); field != "" {
			return fmt.Errorf("the patch replaces the list %s, and would remove %s of its elements, which a %v does not have: use a type that has it, or Patch with a JSON patch",
				strings.Join(path, "."), field, reflect.TypeFor[T]())
		}
	}
	return nil
}

// changedLists returns the paths of lists of objects that a patch replaces by others.
func changedLists(old, patch jsonObject, under []string) (paths [][]string) {
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		path := append(slices.Clip(under), name)
		if within, ok := readObject(patch[name]); ok {
			was, _ := readObject(old[name])
			paths = append(paths, changedLists(was, within, path)...)
		} else if isListOfObjects(patch[name]) && isListOfObjects(old[name]) {
			paths = append(paths, path)
		}
	}
	return paths
}

// keepFields replaces removals of structs in a patch by removals of their fields. A struct, unlike a
// pointer to one, is not encoded if it is zero and has the option omitzero: the object may have fields
// of it that t, the type of the object, has not. Keys of maps stay removed.
func keepFields(t reflect.Type, old, patch jsonObject) (err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for name, value := range patch {
		was, _ := readObject(old[name])
		of := typeAt(t, []string{name})
		if was == nil || of == nil {
			continue
		}
		within, isObject := readObject(value)
		switch {
		case isObject:
		case bytes.Equal(value, null) && t.Kind() == reflect.Struct && of.Kind() == reflect.Struct && !isComplete(of):
			if within, err = mergePatch(was, jsonObject{}); err != nil {
				return err
			}
		default:
			continue
		}
		if err = keepFields(of, was, within); err != nil {
			return err
		}
		if patch[name], err = json.Marshal(within); err != nil {
			return err
		}
	}
	return nil
}

// isComplete reports whether values of a type have all fields: those of Kubernetes' own types, which are
// as complete as in generated clients, and of types that encode themselves.
func isComplete(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/") || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
}

// typeAt returns the type of the value at a path, nil if there is none as encoding/json finds it. The
// structs of outer embed t.
func typeAt(t reflect.Type, path []string, outer ...reflect.Type) reflect.Type {
	if len(path) == 0 {
		return t
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Map:
		return typeAt(t.Elem(), path[1:])
	case reflect.Struct:
		if slices.Contains(outer, t) {
			return nil // it embeds itself
		}
		var embedded reflect.Type
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch embeds := name == "" && field.Anonymous; {
			case !embeds && cmp.Or(name, field.Name) == path[0]:
				return typeAt(field.Type, path[1:])
			case embeds && embedded == nil:
				embedded = typeAt(field.Type, path, append(outer, t)...)
			}
		}
		return embedded
	}
	return nil
}

func isListOfObjects(value json.RawMessage) bool {
	return bytes.HasPrefix(value, []byte("[")) && bytes.Contains(value, []byte("{"))
}

// at returns the value at a path, nil if there is none.
func (o jsonObject) at(path []string) json.RawMessage {
	for _, name := range path[:len(path)-1] {
		o, _ = readObject(o[name])
	}
	return o[path[len(path)-1]]
}

// lostField returns a field that elements of one list have and those of another have not, "" if there is
// none. Empty values count as absent.
func lostField(all, held json.RawMessage) string {
	has := map[string]bool{}
	eachField(held, "", func(path string) { has[path] = true })
	lost := ""
	eachField(all, "", func(path string) {
		if !has[path] && (lost == "" || path < lost) {
			lost = path
		}
	})
	return lost
}

// eachField calls f with the path of each field in a value that is not empty. The elements of a list have
// the path of the list.
func eachField(value json.RawMessage, path string, f func(path string)) {
	if object, ok := readObject(value); ok {
		for name, field := range object {
			switch string(field) {
			case "null", "false", "0", `""`, "[]", "{}":
				continue
			}
			within := strings.TrimPrefix(path+"."+name, ".")
			f(within)
			eachField(field, within, f)
		}
		return
	}
	var list []json.RawMessage
	if bytes.HasPrefix(value, []byte("[")) && json.Unmarshal(value, &list) == nil {
		for _, element := range list {
			eachField(element, path, f)
		}
	}
}
