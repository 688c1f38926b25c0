package typedtest

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubetyped/informer/typed/typedtest/internal/store"
)

// A generated name is cut to maxBase bytes and gets a random suffix, as in
// Kubernetes, which also tries nameAttempts times before it gives up.
const (
	maxBase      = 58
	suffixLength = 5
	nameAttempts = 8
)

func (s *Server) serveCreate(w http.ResponseWriter, req *request) error {
	f, err := req.format()
	if err != nil {
		return err
	}
	options := &metav1.CreateOptions{}
	if err := req.options(options); err != nil {
		return err
	}
	if errs := metavalidation.ValidateCreateOptions(options); len(errs) > 0 {
		return invalidOptions("CreateOptions", errs)
	}
	obj, err := req.object()
	if err != nil {
		return err
	}
	if req.collection.status {
		empty, err := req.collection.newObject()
		if err != nil {
			return err
		}
		copyStatus(empty, obj)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.SetUID("")
	m.SetCreationTimestamp(metav1.Time{})
	created, err := s.create(req.Context(), req.collection, req.namespace, obj, isDryRun(options.DryRun))
	if err != nil {
		return err
	}
	s.answer(w, req.Request, f, http.StatusCreated, created)
	return nil
}

// create completes the metadata of obj, which it owns, and stores it. It keeps a
// UID and a creation time that are set.
func (s *Server) create(ctx context.Context, c *collection, namespace string, obj runtime.Object, dryRun bool) (runtime.Object, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if err := c.place(m, namespace); err != nil {
		return nil, err
	}
	if rv := m.GetResourceVersion(); rv != "" && rv != "0" {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "resourceVersion should not be set on objects to be created",
		}}
	}
	m.SetResourceVersion("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
	m.SetGeneration(0)
	if c.generation {
		m.SetGeneration(1)
	}
	if m.GetUID() == "" {
		m.SetUID(uuid.NewUUID())
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	}
	generated := m.GetName() == "" && m.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		if generated {
			base := m.GetGenerateName()
			m.SetName(base[:min(len(base), maxBase)] + utilrand.String(suffixLength))
		}
		if err := c.validate(m); err != nil {
			return nil, err
		}
		stored, err := s.insert(c, m, obj, dryRun)
		if err == nil {
			return stored, nil
		}
		if !errors.Is(err, store.ErrChanged) {
			return nil, err
		}
		if !generated {
			return nil, apierrors.NewAlreadyExists(c.groupResource(), m.GetName())
		}
		if attempt == nameAttempts {
			return nil, apierrors.NewGenerateNameConflict(c.groupResource(), m.GetName(), 1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

func (s *Server) insert(c *collection, m metav1.Object, obj runtime.Object, dryRun bool) (runtime.Object, error) {
	key := c.key(m.GetNamespace(), m.GetName())
	if dryRun {
		if present, _ := c.table.Get(key); present != nil {
			return nil, store.ErrChanged
		}
		return obj, nil
	}
	stored, err := c.table.Put(key, nil, obj)
	if err != nil {
		return nil, err
	}
	return stored.Object, nil
}
