// Package unstructured is a stub.
package unstructured

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type Unstructured struct{ Object map[string]any }

var _ metav1.Object = &Unstructured{}

func (u *Unstructured) GetObjectKind() schema.ObjectKind { return nil }
func (u *Unstructured) DeepCopyObject() runtime.Object   { return u.DeepCopy() }
func (u *Unstructured) DeepCopy() *Unstructured          { return new(Unstructured) }
func (u *Unstructured) GetResourceVersion() string       { return "" }
func (u *Unstructured) SetResourceVersion(string)        {}

func (u *Unstructured) UnstructuredContent() map[string]any { return u.Object }

func (u *Unstructured) GetLabels() map[string]string { return map[string]string{} }

func (u *Unstructured) SetLabels(labels map[string]string) { u.Object["labels"] = labels }

func (u *Unstructured) GetName() string                   { return "" }
func (u *Unstructured) GetNamespace() string              { return "" }
func (u *Unstructured) GetAnnotations() map[string]string { return map[string]string{} }

func (u *Unstructured) SetAnnotations(annotations map[string]string) {
	u.Object["annotations"] = annotations
}
