// Package runtime is a stub.
package runtime

import "k8s.io/apimachinery/pkg/runtime/schema"

type Object interface {
	GetObjectKind() schema.ObjectKind
	DeepCopyObject() Object
}

type Scheme struct{ kinds map[string]bool }

func (s *Scheme) Convert(in, out, context any) error { return nil }

type Unstructured interface {
	Object
	UnstructuredContent() map[string]any
}

type UnstructuredConverter interface {
	ToUnstructured(obj any) (map[string]any, error)
}

var DefaultUnstructuredConverter UnstructuredConverter
