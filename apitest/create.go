package apitest

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// A generated name is cut to maxBase bytes and gets a random suffix, as in
// Kubernetes, which also tries nameAttempts times before it gives up.
const (
	maxBase      = 58
	suffixLength = 5
	nameAttempts = 8
)

func (s *Server) serveCreate(w http.ResponseWriter, req *request) error {
	options, err := req.createOptions()
	if err != nil {
		return err
	}
	obj, err := req.objectOf(req.collection)
	if err != nil {
		return err
	}
	req.collection.clearStatus(obj)
	m := metadataOf(obj)
	m.SetUID("")
	m.SetCreationTimestamp(metav1.Time{})
	if obj, err = req.collection.toStored(obj); err != nil {
		return err
	}
	created, err := s.create(req.Context(), creation{
		collection: req.collection.storage(), namespace: req.namespace, object: obj, dryRun: isDryRun(options.DryRun),
		manager: req.managerOf(options.FieldManager),
	})
	if err != nil {
		return err
	}
	return s.answerStored(w, req, http.StatusCreated, created)
}

func (r *request) createOptions() (*metav1.CreateOptions, error) {
	options := &metav1.CreateOptions{}
	if err := r.options(options); err != nil {
		return nil, err
	}
	if errs := metavalidation.ValidateCreateOptions(options); len(errs) > 0 {
		return nil, invalidOptions("CreateOptions", errs)
	}
	return options, nil
}

// creation is a write of an object that does not exist.
type creation struct {
	collection *collection
	namespace  string
	object     runtime.Object // owned by the server from now on
	dryRun     bool
	seed       bool   // in process: checks no more than where the object goes
	manager    string // the field manager
	applied    bool   // the object has its managed fields
}

// create completes the metadata of the object and stores it. It keeps a UID and
// a creation time that are set.
func (s *Server) create(ctx context.Context, cr creation) (runtime.Object, error) {
	created, err := s.createAbsent(ctx, cr)
	if errors.Is(err, store.ErrChanged) {
		return nil, apierrors.NewAlreadyExists(cr.collection.groupResource(), metadataOf(cr.object).GetName())
	}
	return created, err
}

// createAbsent is create. It returns store.ErrChanged if there is an object of that name.
func (s *Server) createAbsent(ctx context.Context, cr creation) (runtime.Object, error) {
	c := cr.collection
	m := metadataOf(cr.object)
	err := cr.complete(m, s.settings.random)
	if err != nil {
		return nil, err
	}
	if c.terminates {
		prepareNamespace(cr.object)
	}
	if !cr.seed {
		if err := s.catalog.allowCreate(c, cr.namespace, m); err != nil {
			return nil, err
		}
	}
	if !cr.seed && !cr.applied {
		if cr.object, err = c.track(nil, cr.object, c.whole(), cr.manager); err != nil {
			return nil, err
		}
	}
	if cr.object, err = cr.admit(ctx, s.settings); err != nil {
		return nil, err
	}
	m = metadataOf(cr.object)
	generated := m.GetName() == "" && m.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		if generated {
			base := m.GetGenerateName()
			m.SetName(base[:min(len(base), maxBase)] + s.settings.random.suffix())
		}
		if err := c.validate(m, cr.seed); err != nil {
			return nil, err
		}
		stored, err := c.insert(m, cr.object, cr.dryRun)
		switch {
		case err == nil:
			return stored, nil
		case !generated, !errors.Is(err, store.ErrChanged):
			return nil, err
		case attempt == nameAttempts:
			return nil, apierrors.NewGenerateNameConflict(c.groupResource(), m.GetName(), 1)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// complete sets the metadata that clients do not decide.
func (cr creation) complete(m metav1.Object, random *randomness) error {
	if err := cr.collection.place(m, cr.namespace); err != nil {
		return err
	}
	if rv := m.GetResourceVersion(); rv != "" && rv != "0" {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "resourceVersion should not be set on objects to be created",
		}}
	}
	m.SetResourceVersion("")
	m.SetSelfLink("")
	if !cr.seed {
		m.SetDeletionTimestamp(nil)
		m.SetDeletionGracePeriodSeconds(nil)
		dropRepeatedOwners(m)
	}
	if cr.collection.firstGeneration() && !(cr.seed && m.GetGeneration() > 0) {
		m.SetGeneration(1)
	}
	if m.GetUID() == "" {
		m.SetUID(random.uid())
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	}
	return nil
}

func (c *collection) insert(m metav1.Object, obj runtime.Object, dryRun bool) (runtime.Object, error) {
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
