package index

import "strings"

// Key identifies an object: its namespace, empty for cluster-scoped objects, and its
// name. It converts to and from apimachinery's types.NamespacedName and client-go's
// cache.ObjectName: types.NamespacedName(key).
type Key struct {
	Namespace string
	Name      string
}

// String returns "namespace/name", or the name if there is no namespace, as
// cache.MetaNamespaceKeyFunc does.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// clone returns a copy that shares no memory with k, which may be in a buffer.
func (k Key) clone() Key { return Key{strings.Clone(k.Namespace), strings.Clone(k.Name)} }

// Object is what can be kept in an Indexer: anything that knows its name and namespace. It has
// the methods of client-go's cache.Object, so every pointer to an API type fits, and so does a
// small struct that holds only the fields a program needs.
//
// It does not require comparable: the compiler would then generate the code of an informer for
// each type of objects, instead of once for all pointers.
type Object interface {
	GetName() string
	GetNamespace() string
}

// KeyOf returns the key of obj. obj must not be a nil pointer.
func KeyOf[T Object](obj T) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
