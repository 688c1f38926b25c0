package adapters

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// conversion converts the objects of an informer between typed and untyped code. There are two:
// ofType for informers of one type, and ofAny for informers of any type.
type conversion[T index.Object] struct {
	// typed returns an untyped object as a T, or an error if it is none: a
	// cache.KeyError if it has no key.
	typed func(obj any) (T, error)
	// anything says that typed returns a *namedObject for an object without a proper key.
	anything bool
	// packs says that objects of ofAny can be a *kept.Object.
	packs bool
}

// plain returns what typed was given, of an object that is not kept as bytes.
func (c conversion[T]) plain(obj T) any {
	if c.anything {
		if named, ok := any(obj).(*namedObject); ok {
			return named.untyped
		}
	}
	return obj
}

// untyped returns what typed was given. An object that is kept as bytes is decoded; the error
// names it.
func (c conversion[T]) untyped(obj T) (any, error) {
	if c.packs {
		return c.decoded(obj)
	}
	return c.plain(obj), nil
}

// known does as untyped, but reports an error, once for the object, and returns false then.
func (c conversion[T]) known(obj T) (any, bool) {
	if !c.packs {
		return c.plain(obj), true
	}
	untyped, err := c.decoded(obj)
	return untyped, err == nil || c.report(obj, err)
}

// appendUntyped appends many, apart from those that are not known.
func (c conversion[T]) appendUntyped(dst []any, objs []T) []any {
	if c.packs {
		return c.appendDecoded(dst, objs)
	}
	for _, obj := range objs {
		dst = append(dst, c.plain(obj))
	}
	return dst
}

// ofType is the conversion of informers whose objects are of the type T.
func ofType[T index.Object]() conversion[T] {
	return conversion[T]{
		typed: func(untyped any) (T, error) {
			var none T
			if obj, ok := untyped.(T); ok && !index.Same(obj, none) {
				return obj, nil
			}
			if _, err := keyOfAny(untyped); err != nil {
				return none, err
			}
			return none, fmt.Errorf("type is %T, want %v", untyped, reflect.TypeFor[T]())
		},
	}
}

// ofAny is the conversion of informers whose objects can be of any type: of
// whatever client-go's DeletionHandlingMetaNamespaceKeyFunc knows a key.
func ofAny() conversion[metav1.Object] {
	return conversion[metav1.Object]{
		typed: func(untyped any) (metav1.Object, error) {
			obj, ok := untyped.(metav1.Object)
			if ok && reflect.TypeOf(untyped).Kind() == reflect.Pointer && hasProperKey(obj) {
				return obj, nil
			}
			return nameObject(untyped)
		},
		anything: true,
	}
}

// hasProperKey reports whether the key of obj, made a string, means obj again.
func hasProperKey(obj metav1.Object) bool {
	if namespace := obj.GetNamespace(); namespace != "" {
		return strings.IndexByte(namespace, '/') < 0
	}
	return strings.IndexByte(obj.GetName(), '/') < 0
}

// namedObject gives a key to an object that has none: a key, a tombstone, an object that is not
// a pointer or only refers to its metadata, or one whose name the API does not allow.
type namedObject struct {
	metav1.Object

	key       index.Key
	untyped   any
	versioned bool // it has metadata, and so a resource version, which may be empty
}

// GetNamespace returns the namespace of the key.
func (o *namedObject) GetNamespace() string { return o.key.Namespace }

// GetName returns the name of the key.
func (o *namedObject) GetName() string { return o.key.Name }

// MarshalJSON implements json.Marshaler, by the object itself.
func (o *namedObject) MarshalJSON() ([]byte, error) { return json.Marshal(o.untyped) }

func nameObject(untyped any) (metav1.Object, error) {
	key, err := keyOfAny(untyped)
	if err != nil {
		return nil, err
	}
	named := &namedObject{key: key, untyped: untyped, versioned: true}
	named.Object, err = meta.Accessor(untyped)
	if err != nil {
		named.Object, named.versioned = &metav1.ObjectMeta{}, false
	}
	return named, nil
}
