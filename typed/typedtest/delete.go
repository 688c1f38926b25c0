package typedtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/typed/typedtest/internal/store"
	"github.com/kubetyped/informer/typed/typedtest/internal/wire"
)

func (s *Server) serveDelete(w http.ResponseWriter, req *request) error {
	f, err := req.format()
	if err != nil {
		return err
	}
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	left, uid, err := s.remove(req.Context(), req.collection, req.namespace, req.name, options)
	if err != nil {
		return err
	}
	if left == nil {
		left = deletedStatus(req.collection, req.name, uid)
	}
	s.answer(w, req.Request, f, http.StatusOK, left)
	return nil
}

func deletedStatus(c *collection, name string, uid types.UID) *metav1.Status {
	status := &metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: name, Group: c.resource.Group, Kind: c.resource.Resource, UID: uid},
	}
	status.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	return status
}

// deleteOptions reads options from the body, or else from the query.
func (r *request) deleteOptions() (*metav1.DeleteOptions, error) {
	data, err := r.body()
	if err != nil {
		return nil, err
	}
	options, err := wire.DecodeOptions(r.Header.Get("Content-Type"), data, r.collection.media.CBOR)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		if err := r.options(options); err != nil {
			return nil, err
		}
	}
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return nil, invalidOptions("DeleteOptions", errs)
	}
	return options, nil
}

// remove deletes an object, or marks it deleted while it has finalizers and
// returns it. A Pod is marked in any case, and then deleted as if it were on no
// node, or its node had nothing to stop. left is nil when the object is gone.
func (s *Server) remove(ctx context.Context, c *collection, namespace, name string, options *metav1.DeleteOptions) (left runtime.Object, uid types.UID, err error) {
	key := c.key(namespace, name)
	for {
		present, _ := c.table.Get(key)
		if present == nil {
			return nil, "", apierrors.NewNotFound(c.groupResource(), name)
		}
		m, err := meta.Accessor(present.Object)
		if err != nil {
			return nil, "", err
		}
		if err := c.checkPreconditions(m, options.Preconditions); err != nil {
			return nil, "", err
		}
		left, err := c.removePresent(key, present, isDryRun(options.DryRun))
		if !errors.Is(err, store.ErrChanged) {
			return left, m.GetUID(), err
		}
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
	}
}

func (c *collection) checkPreconditions(m metav1.Object, wanted *metav1.Preconditions) error {
	if wanted == nil {
		return nil
	}
	if wanted.UID != nil && *wanted.UID != m.GetUID() {
		return apierrors.NewConflict(c.groupResource(), m.GetName(),
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", *wanted.UID, m.GetUID()))
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != m.GetResourceVersion() {
		return apierrors.NewConflict(c.groupResource(), m.GetName(),
			fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s)",
				*wanted.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

func (c *collection) removePresent(key string, present *store.Version, dryRun bool) (left runtime.Object, err error) {
	m, err := meta.Accessor(present.Object)
	if err != nil {
		return nil, err
	}
	held, marked := len(m.GetFinalizers()) > 0, m.GetDeletionTimestamp() != nil
	switch {
	case held && marked:
		return present.Object, nil
	case !held && dryRun:
		return nil, nil
	case !marked && (held || c.graceful):
		if present, err = c.mark(key, present, dryRun); err != nil {
			return nil, err
		}
	}
	if held {
		return present.Object, nil
	}
	_, err = c.table.Delete(key, present)
	return nil, err
}

// mark notes that an object is to be deleted.
func (c *collection) mark(key string, present *store.Version, dryRun bool) (*store.Version, error) {
	marked := present.Object.DeepCopyObject()
	m, err := meta.Accessor(marked)
	if err != nil {
		return nil, err
	}
	now := metav1.Now().Rfc3339Copy()
	m.SetDeletionTimestamp(&now)
	m.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
	if m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	if dryRun {
		return &store.Version{Object: marked}, nil
	}
	return c.table.Put(key, present, marked)
}

// serveDeleteCollection deletes what a list with the same selectors returns, and
// answers with that list.
func (s *Server) serveDeleteCollection(w http.ResponseWriter, req *request) error {
	f, err := req.format()
	if err != nil {
		return err
	}
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	q, err := req.listQuery(s.settings.watchList)
	if err != nil {
		return err
	}
	page, err := req.collection.page(q, 0)
	if err != nil {
		return err
	}
	for _, obj := range page.objects {
		m, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		_, _, err = s.remove(req.Context(), req.collection, m.GetNamespace(), m.GetName(), options)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return s.answerList(w, req, f, page)
}
