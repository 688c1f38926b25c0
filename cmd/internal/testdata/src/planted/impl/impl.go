// Package impl contains functions that another package calls over interfaces, generics and
// closures.
package impl

import corev1 "k8s.io/api/core/v1"

// Writer has one implementation.
type Writer interface{ Write(pod *corev1.Pod) }

// New returns it as the interface.
func New() Writer { return &writer{} }

type writer struct{ written int }

func (w *writer) Write(pod *corev1.Pod) {
	w.written++
	w.first(pod)
}

func (w *writer) first(pod *corev1.Pod) { second(&pod.Spec) }
func second(spec *corev1.PodSpec)       { third(spec.Containers) }
func third(all []corev1.Container)      { fourth(all, 0) }
func fourth(all []corev1.Container, i int) {
	Change(&all[i], func(c *corev1.Container) { c.Image = "x" })
}
func Change(c *corev1.Container, f func(*corev1.Container)) { f(c) }

// Copier changes a copy.
type Copier interface {
	Copy(pod *corev1.Pod) *corev1.Pod
}

type copier struct{}

// NewCopier returns the one implementation.
func NewCopier() Copier { return copier{} }

func (copier) Copy(pod *corev1.Pod) *corev1.Pod {
	mine := pod.DeepCopy()
	(&writer{}).Write(mine)
	return mine
}

// Exported is a struct with methods.
type Exported struct{}

// Label writes.
func (Exported) Label(pod *corev1.Pod) { pod.Labels["a"] = "b" }

// Map calls a function with each element, and returns the results.
func Map[T, U any](all []T, f func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, f(one))
	}
	return out
}

// Box is generic.
type Box[T any] struct{ of T }

// Put returns a box.
func Put[T any](of T) *Box[T] { return &Box[T]{of} }

// Get returns its content.
func (b *Box[T]) Get() T { return b.of }

// Update calls a function with the content of the box.
func (b *Box[T]) Update(f func(T)) { f(b.of) }

// Tree calls a function, which calls itself.
func Tree(depth int, pod *corev1.Pod, f func(*corev1.Pod)) {
	if depth > 0 {
		Tree(depth-1, pod, f)
		return
	}
	f(pod)
}
