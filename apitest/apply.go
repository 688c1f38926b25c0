package apitest

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

// application is a server-side apply.
type application struct {
	*request
	patch   *unstructured.Unstructured
	options *metav1.PatchOptions
}

// application reads the object to apply.
func (r *request) application(data []byte, options *metav1.PatchOptions) (*application, error) {
	a := &application{request: r, patch: &unstructured.Unstructured{}, options: options}
	return a, wire.DecodeApplied(data, r.collection.kind, r.collection.protobuf, a.patch)
}

// apply does a server-side apply. It returns the object, and the HTTP status: whether
// the object was created.
func (s *Server) apply(ctx context.Context, a *application) (runtime.Object, int, error) {
	code := http.StatusOK
	u := update{
		collection: a.collection, namespace: a.namespace, name: a.name,
		part: a.part(), dryRun: isDryRun(a.options.DryRun), applied: true, patched: true, change: a.merge,
	}
	if a.subresource == "" {
		u.create = func(ctx context.Context) (runtime.Object, error) {
			created, err := s.createApplied(ctx, a)
			if err == nil {
				code = http.StatusCreated
			}
			return created, err
		}
	}
	applied, err := s.update(ctx, u)
	return applied, code, err
}

// merge returns present with the patch applied.
func (a *application) merge(present runtime.Object) (runtime.Object, error) {
	fields, err := a.collection.fieldManager(a.part())
	if err != nil {
		return nil, err
	}
	merged, err := fields.Apply(present, a.patch.DeepCopy(), a.options.FieldManager, ptr.Deref(a.options.Force, false))
	if err != nil {
		return nil, err
	}
	merged.GetObjectKind().SetGroupVersionKind(a.collection.kind)
	return inSeconds(merged), nil
}

// createApplied creates the object that is applied, see createAbsent.
func (s *Server) createApplied(ctx context.Context, a *application) (runtime.Object, error) {
	c := a.collection
	obj, err := a.merge(c.empty())
	if err != nil {
		return nil, err
	}
	m := metadataOf(obj)
	switch {
	case m.GetUID() != "":
		return nil, apierrors.NewConflict(c.groupResource(), a.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.GetUID()))
	case m.GetName() != a.name:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), a.name))
	}
	c.clearStatus(obj)
	m.SetResourceVersion("")
	m.SetCreationTimestamp(metav1.Time{})
	return s.createAbsent(ctx, creation{collection: c, namespace: a.namespace, object: obj, dryRun: isDryRun(a.options.DryRun), applied: true})
}
