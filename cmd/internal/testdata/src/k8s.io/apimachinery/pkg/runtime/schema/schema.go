// Package schema is a stub.
package schema

type GroupVersionKind struct{ Group, Version, Kind string }

type ObjectKind interface {
	SetGroupVersionKind(kind GroupVersionKind)
	GroupVersionKind() GroupVersionKind
}
