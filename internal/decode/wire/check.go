package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// CheckType returns an error if a type cannot be what the objects of an API server are
// decoded into:
//
//   - It has to be a pointer to a struct.
//   - If it has a method UnmarshalJSON that is promoted from an embedded field, all
//     other fields would stay empty.
//   - Its methods GetName and GetResourceVersion, as far as it has them, have to
//     return the name and version that were decoded.
func CheckType(of reflect.Type) error {
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("objects can be decoded into pointers to structs, and %v is none", of)
	}
	switch {
	case of == reflect.TypeFor[*unstructured.Unstructured]():
		return nil
	case !of.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return checkIdentity(reflect.New(of.Elem()).Interface(), of.Elem())
	case isDeclared(of, methodUnmarshalJSON):
		return nil
	default:
		from := promoter(of.Elem(), methodUnmarshalJSON)
		if from.Type.Kind() != reflect.Struct {
			return fmt.Errorf("method UnmarshalJSON is that of the embedded field %s, which is nil in a new object: write UnmarshalJSON for the type", from.Name)
		}
		return checkPromoted(of.Elem(), from, "UnmarshalJSON", "empty")
	}
}

// CheckEncoding returns an error if encoding/json would leave fields of a type out,
// since its method MarshalJSON is promoted from an embedded field. CheckType has
// returned none.
func CheckEncoding(of reflect.Type) error {
	if of == reflect.TypeFor[*unstructured.Unstructured]() || !of.Implements(reflect.TypeFor[json.Marshaler]()) || isDeclared(of, methodMarshalJSON) {
		return nil
	}
	return checkPromoted(of.Elem(), promoter(of.Elem(), methodMarshalJSON), "MarshalJSON", "out")
}

// checkPromoted returns an error if a struct has fields that a method, which is
// promoted from one of them, leaves empty or out.
func checkPromoted(of reflect.Type, from *reflect.StructField, method, how string) error {
	for field := range of.Fields() {
		if field.Name != from.Name && (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-" {
			return fmt.Errorf("method %s is that of the embedded field %s, and leaves the field %s %s: write the method for the type, or give %s a name", method, from.Name, field.Name, how, from.Name)
		}
	}
	return nil
}

// probe is an object as short as they come.
var probe = []byte(`{"apiVersion":"v1","kind":"Probe","metadata":{"name":"a","namespace":"b","uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"1","generation":1,"creationTimestamp":"2006-01-02T15:04:05Z"}}`)

// checkIdentity decodes an object, and returns an error if its name or version is
// not read. What else may be wrong with it shows with real objects.
func checkIdentity(obj any, of reflect.Type) (err error) {
	defer func() {
		if recover() != nil && embeddedMetadata(of) != nil {
			err = fmt.Errorf("the name of its objects is not read: %w", explainMetadata(of))
		} // else it asks for more than is in the probe
	}()
	if utiljson.Unmarshal(probe, obj) != nil {
		return nil
	}
	named, hasName := obj.(interface{ GetName() string })
	versioned, hasVersion := obj.(interface{ GetResourceVersion() string })
	switch {
	case hasName && named.GetName() == "":
		return fmt.Errorf("the name of its objects is not read: %w", explainMetadata(of))
	case hasVersion && versioned.GetResourceVersion() == "":
		return fmt.Errorf("the resource version of its objects is not read: %w", explainMetadata(of))
	}
	return nil
}

// explainMetadata returns why the metadata of objects does not get into a struct.
func explainMetadata(of reflect.Type) error {
	if field := embeddedMetadata(of); field != nil {
		tag := "no JSON tag"
		if text, ok := field.Tag.Lookup("json"); ok {
			tag = fmt.Sprintf("the tag `json:%q`", text)
		}
		return fmt.Errorf("the embedded field %s has %s; write %s `json:\"metadata\"`", field.Name, tag, field.Type.String())
	}
	return errors.New("no field takes what is in \"metadata\"; embed metav1.ObjectMeta with the tag `json:\"metadata\"`")
}

// embeddedMetadata returns the embedded ObjectMeta of a struct, or of one that it
// embeds in turn, nil if there is none. The structs of outer embed the struct.
func embeddedMetadata(of reflect.Type, outer ...reflect.Type) *reflect.StructField {
	if slices.Contains(outer, of) {
		return nil // it embeds itself
	}
	for field := range of.Fields() {
		within := field.Type
		if within.Kind() == reflect.Pointer {
			within = within.Elem()
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.Anonymous || within.Kind() != reflect.Struct:
		case within == reflect.TypeFor[metav1.ObjectMeta]():
			if name != "metadata" {
				return &field
			}
		case name == "":
			if found := embeddedMetadata(within, append(outer, of)...); found != nil {
				return found
			}
		}
	}
	return nil
}

// CheckTags returns an error if an exported field has no name in a JSON tag, in the struct that
// of points to or in a struct of the same package in it. The keys of objects are compared
// exactly, and those of Kubernetes begin in lower case: the field would stay empty. What
// decodes itself is not looked into, nor what other packages declare.
func CheckTags(of reflect.Type) error {
	return checkTags(of, of.Elem().PkgPath(), of.Elem().Name(), map[reflect.Type]bool{})
}

// checkTags checks a type that stands at a path, unless it was seen before.
func checkTags(of reflect.Type, pkg, path string, seen map[reflect.Type]bool) error {
	if of.Name() != "" && of.PkgPath() != pkg || seen[of] || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return checkTags(of.Elem(), pkg, path, seen)
	case reflect.Struct:
	default:
		return nil
	}
	for field := range of.Fields() {
		tag := field.Tag.Get("json")
		inTag, _, _ := strings.Cut(tag, ",")
		name, inline := plan.JSONName(field)
		switch {
		case tag == "-" || !plan.InJSON(field):
			continue
		case !inline && name != inTag:
			return fmt.Errorf("the field %s.%s has no name in a JSON tag, and would stay empty: write `json:%q`, or `json:\"-\"` for what the server does not have", path, field.Name, jsonName(field.Name))
		}
		if err := checkTags(field.Type, pkg, path+"."+field.Name, seen); err != nil {
			return err
		}
	}
	return nil
}

// jsonName returns the name of a field, as objects of Kubernetes would have it.
func jsonName(field string) string {
	if strings.ToUpper(field) == field {
		return strings.ToLower(field) // URL
	}
	return strings.ToLower(field[:1]) + field[1:]
}
