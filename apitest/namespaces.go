package apitest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// addLifecycle makes namespaces live and die as in Kubernetes.
func (c *catalog) addLifecycle() error {
	kind := corev1.SchemeGroupVersion.WithKind("Namespace")
	c.namespaces = c.byKind[kind]
	if c.namespaces == nil {
		return errors.New("a life cycle of namespaces, which are not served: add k8s.io/api/core/v1 to the scheme")
	}
	obj := c.namespaces.newObject()
	if _, ok := obj.(*corev1.Namespace); !ok {
		return fmt.Errorf("a life cycle of namespaces, which are served as %T: add k8s.io/api/core/v1 to the scheme", obj)
	}
	c.namespaces.terminates = true
	c.namespaces.addSubresource("finalize", kind, map[string]handler{"update": (*Server).serveUpdate})
	return nil
}

// allowCreate refuses objects in namespaces that do not exist, or are about to go.
func (c *catalog) allowCreate(col *collection, namespace string, m metav1.Object) error {
	if c.namespaces == nil || !col.namespaced {
		return nil
	}
	found, _ := c.namespaces.table.Get(c.namespaces.key("", namespace))
	if found == nil {
		return apierrors.NewNotFound(c.namespaces.groupResource(), namespace)
	}
	if ns, ok := found.Object.(*corev1.Namespace); !ok || ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	refused := apierrors.NewForbidden(col.groupResource(), cmp.Or(m.GetName(), m.GetGenerateName()),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	})
	return refused
}

// allowDelete refuses to delete the namespaces that have to be there.
func (c *catalog) allowDelete(col *collection, name string) error {
	if !col.terminates || !slices.Contains(systemNamespaces[:3], name) {
		return nil
	}
	return apierrors.NewForbidden(col.groupResource(), name, errors.New("the namespace may not be deleted"))
}

// prepareNamespace completes a namespace that is created.
func prepareNamespace(obj runtime.Object) {
	ns, ok := obj.(*corev1.Namespace)
	if !ok {
		return
	}
	ns.Status.Phase = corev1.NamespaceActive
	if ns.DeletionTimestamp != nil {
		ns.Status.Phase = corev1.NamespaceTerminating
	}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	labelNamespace(ns)
}

// keepNamespace completes a namespace that is updated: its finalizers are changed by a
// subresource alone.
func keepNamespace(present, wanted runtime.Object) {
	copyFinalizers(present, wanted)
	if ns, ok := wanted.(*corev1.Namespace); ok {
		labelNamespace(ns)
	}
}

// copyFinalizers makes the finalizers of a namespace those of another.
func copyFinalizers(from, to runtime.Object) {
	source, known := from.(*corev1.Namespace)
	ns, ok := to.(*corev1.Namespace)
	if known && ok {
		ns.Spec.Finalizers = slices.Clone(source.Spec.Finalizers)
	}
}

func labelNamespace(ns *corev1.Namespace) {
	if ns.Name == "" || ns.Labels[corev1.LabelMetadataName] == ns.Name {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

// markNamespace marks a namespace that is deleted. It returns false when that has been
// done, and nothing holds it.
func (r removal) markNamespace(obj runtime.Object) (step, bool) {
	ns, ok := obj.(*corev1.Namespace)
	if !ok {
		return 0, false
	}
	if ns.DeletionTimestamp != nil {
		return alreadyMarked, len(ns.Spec.Finalizers) > 0
	}
	ns.DeletionTimestamp = new(metav1.Now().Rfc3339Copy())
	ns.Status.Phase = corev1.NamespaceTerminating
	r.propagate(ns)
	return marksOnly, true
}

// held reports whether a namespace waits to be emptied.
func held(obj runtime.Object) bool {
	ns, ok := obj.(*corev1.Namespace)
	return ok && len(ns.Spec.Finalizers) > 0
}
