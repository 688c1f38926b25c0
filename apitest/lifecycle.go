package apitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// lifecycle empties namespaces that are deleted, and then removes their finalizer. It belongs
// to the goroutine of the controllers.
type lifecycle struct {
	server      *Server
	objects     map[string]int  // how many each namespace has
	terminating map[string]bool // the namespaces that are
	failed      []string        // namespaces of which something could not be deleted
}

func newLifecycle(s *Server) *lifecycle {
	return &lifecycle{server: s, objects: map[string]int{}, terminating: map[string]bool{}}
}

// observe implements controller.
func (l *lifecycle) observe(ctx context.Context, w written) {
	if w.collection.terminates {
		l.observeNamespace(ctx, w)
		return
	}
	namespace, _, namespaced := strings.Cut(w.key, "/")
	if !namespaced {
		return
	}
	if w.before == nil {
		l.objects[namespace]++
	}
	if w.now == nil {
		l.objects[namespace]--
	}
	switch {
	case l.objects[namespace] == 0:
		delete(l.objects, namespace)
		l.finish(ctx, namespace)
	case w.before == nil && l.terminating[namespace]:
		// It came before creates were refused, or without HTTP.
		l.empty(ctx, namespace)
	}
}

func (l *lifecycle) observeNamespace(ctx context.Context, w written) {
	ns, ok := w.now.(*corev1.Namespace)
	if !ok || ns.DeletionTimestamp == nil {
		delete(l.terminating, w.key)
		return
	}
	if !l.terminating[ns.Name] {
		l.terminating[ns.Name] = true
		l.empty(ctx, ns.Name)
		l.finish(ctx, ns.Name)
	}
}

// empty deletes what is in a namespace, resource by resource in the order of their
// names.
func (l *lifecycle) empty(ctx context.Context, namespace string) {
	var failed error
	for _, c := range l.server.catalog.sorted() {
		if !c.namespaced || c.stored != nil {
			continue
		}
		page, _, err := c.table.List(c.prefix(namespace), "", 0)
		failed = errors.Join(failed, err)
		for _, v := range page {
			failed = errors.Join(failed, l.remove(ctx, c, v.Object))
		}
	}
	l.note(ctx, namespace, failed)
}

// note remembers a namespace whose removal failed, to be tried again.
func (l *lifecycle) note(ctx context.Context, namespace string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	klog.FromContext(ctx).V(2).Info("Cannot empty a namespace", "namespace", namespace, "err", err)
	if !slices.Contains(l.failed, namespace) {
		l.failed = append(l.failed, namespace)
	}
}

func (l *lifecycle) remove(ctx context.Context, c *collection, obj runtime.Object) error {
	m := metadataOf(obj)
	if m.GetDeletionTimestamp() != nil {
		return nil
	}
	_, err := l.server.remove(ctx, removal{
		collection: c, namespace: m.GetNamespace(), name: m.GetName(),
		options: metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: new(m.GetUID())},
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		},
	})
	return unlessGone(err)
}

// finish removes the finalizer of a namespace that is to be deleted and empty.
func (l *lifecycle) finish(ctx context.Context, namespace string) {
	if !l.terminating[namespace] || l.objects[namespace] > 0 {
		return
	}
	namespaces := l.server.catalog.namespaces
	_, err := l.server.update(ctx, update{
		collection: namespaces, name: namespace, part: finalizerPart, seed: true, manager: manager,
		change: func(present runtime.Object) (runtime.Object, error) {
			ns, ok := present.DeepCopyObject().(*corev1.Namespace)
			if !ok || ns.DeletionTimestamp == nil {
				return nil, apierrors.NewNotFound(namespaces.groupResource(), namespace)
			}
			ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
			return ns, nil
		},
	})
	l.note(ctx, namespace, unlessGone(err))
}

// retry implements controller.
func (l *lifecycle) retry(ctx context.Context) bool {
	failed := l.failed
	l.failed = nil
	for _, namespace := range failed {
		if l.terminating[namespace] {
			l.empty(ctx, namespace)
			l.finish(ctx, namespace)
		}
	}
	return len(l.failed) > 0
}

// systemNamespaces are there from the beginning; the first three cannot be deleted.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// addNamespaces adds the namespaces that API servers make for themselves.
func (s *Server) addNamespaces(ctx context.Context) error {
	if s.catalog.namespaces == nil {
		return nil
	}
	for _, name := range systemNamespaces {
		err := s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make the namespace %s: %w", name, err)
		}
	}
	return nil
}
