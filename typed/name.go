package typed

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// nameOf returns the default name of an informer of objects of type T: the type, and the known
// parts of their origin.
func nameOf[T index.Object](from source.Origin) string {
	t := reflect.TypeFor[T]()
	name := t.String()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var of string // unless the type says it
	usual, _ := meta.UnsafeGuessKindToResource(from.Kind.GroupVersion().WithKind(t.Name()))
	switch {
	case from.Resource.Empty() && from.Kind.Kind != t.Name():
		of = from.Kind.GroupKind().String()
	case from.Resource.Empty():
	case from.Resource.Resource != usual.Resource, !from.Kind.Empty() && from.Resource != usual:
		of = from.Resource.GroupResource().String()
	}
	for _, part := range []struct{ before, what string }{
		{" of ", of}, {" in ", from.Namespace}, {" ", from.Selection}, {" at ", from.Host},
	} {
		if part.what != "" {
			name += part.before + part.what
		}
	}
	return name
}

// inWords returns the key of an informer of a factory as it stands in names: nothing if
// it would print as a list of fields or as an address.
func inWords(key any) string {
	switch reflect.ValueOf(key).Kind() {
	case reflect.Struct, reflect.Pointer:
		if _, ok := key.(fmt.Stringer); !ok {
			return ""
		}
	}
	return fmt.Sprint(key)
}

// sharedName returns the name of an informer of a factory for a key in words.
func sharedName[T index.Object](key string, from source.Origin) string {
	if key == "" {
		return nameOf[T](from)
	}
	name := reflect.TypeFor[T]().String() + " " + key
	if from.Host != "" {
		name += " at " + from.Host
	}
	return name
}

// groupResourceOf returns what client-go's listers call objects in errors: those for
// a kind, by its name in lower case; those for any resource, by the resource. It is zero
// if neither is known.
func groupResourceOf(from source.Origin) schema.GroupResource {
	if from.Kind.Kind != "" {
		return schema.GroupResource{Group: from.Kind.Group, Resource: strings.ToLower(from.Kind.Kind)}
	}
	return from.Resource.GroupResource()
}
