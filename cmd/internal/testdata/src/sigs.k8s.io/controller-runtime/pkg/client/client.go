// Package client is a stub.
package client

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/controller-runtime/pkg/cache/cacheapi"
)

type Object = cacheapi.Object

type FieldIndexer = cacheapi.FieldIndexer

type ObjectList interface{ runtime.Object }

type ObjectKey struct{ Namespace, Name string }

type GetOption interface{ ApplyToGet() }

type ListOption interface{ ApplyToList() }

type UnsafeDisableDeepCopyOption bool

func (UnsafeDisableDeepCopyOption) ApplyToGet()  {}
func (UnsafeDisableDeepCopyOption) ApplyToList() {}

const UnsafeDisableDeepCopy = UnsafeDisableDeepCopyOption(true)

type Reader interface {
	Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error
	List(ctx context.Context, list ObjectList, opts ...ListOption) error
}

type Client interface {
	Reader
	Update(ctx context.Context, obj Object) error
}
