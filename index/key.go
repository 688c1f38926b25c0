package index

import "k8s.io/client-go/tools/cache"

// Key identifies an object: its namespace, empty for cluster-scoped objects,
// and its name. It is client-go's own type, so keys pass between the two
// without conversion, and it is never joined into a string in here.
type Key = cache.ObjectName

// Object is what can be kept in an Indexer: anything comparable that knows its
// name and namespace. It is the constraint of client-go's cache.Object, so
// every pointer to an API type fits, and so does a small struct that holds
// only the fields a program needs.
type Object interface {
	comparable

	GetName() string
	GetNamespace() string
}

// KeyOf returns the key of obj. obj must not be a nil pointer.
func KeyOf[T Object](obj T) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
