package apitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// part is what of an object a write may change.
type part int

const (
	mainPart      part = iota // all but the status, if that is a subresource
	statusPart                // nothing but the status
	wholePart                 // all
	finalizerPart             // nothing but what holds a namespace
)

// subresources are those by which parts are changed.
var subresources = map[part]string{statusPart: "status", finalizerPart: "finalize"}

func (r *request) part() part {
	switch r.subresource {
	case "status":
		return statusPart
	case "finalize":
		return finalizerPart
	default:
		return r.collection.whole()
	}
}

// whole returns what of an object a write may change that is not to a subresource.
func (c *collection) whole() part {
	if c.status {
		return mainPart
	}
	return wholePart
}

func (s *Server) serveUpdate(w http.ResponseWriter, req *request) error {
	options, err := req.updateOptions()
	if err != nil {
		return err
	}
	obj, err := req.objectOf(req.collection)
	if err != nil {
		return err
	}
	if obj, err = req.collection.toStored(obj); err != nil {
		return err
	}
	code := http.StatusOK
	u := update{
		collection: req.collection.storage(), namespace: req.namespace, name: req.name,
		part: req.part(), dryRun: isDryRun(options.DryRun), manager: req.managerOf(options.FieldManager),
		change: func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil },
	}
	if u.collection.creates && req.subresource == "" {
		u.create = func(ctx context.Context) (runtime.Object, error) {
			created, err := s.createUpdated(ctx, u, obj.DeepCopyObject())
			if err == nil {
				code = http.StatusCreated
			}
			return created, err
		}
	}
	updated, err := s.update(req.Context(), u)
	if err != nil {
		return err
	}
	return s.answerStored(w, req, code, updated)
}

func (r *request) updateOptions() (*metav1.UpdateOptions, error) {
	options := &metav1.UpdateOptions{}
	if err := r.options(options); err != nil {
		return nil, err
	}
	if errs := metavalidation.ValidateUpdateOptions(options); len(errs) > 0 {
		return nil, invalidOptions("UpdateOptions", errs)
	}
	return options, nil
}

// createUpdated creates the object of an update, see createAbsent. A version in it, of an object
// that is gone, is no condition, as with API servers; a UID is.
func (s *Server) createUpdated(ctx context.Context, u update, obj runtime.Object) (runtime.Object, error) {
	m := metadataOf(obj)
	if err := u.checkName(m); err != nil {
		return nil, err
	}
	if uid := m.GetUID(); uid != "" {
		return nil, u.anotherUID(uid, "")
	}
	u.collection.clearStatus(obj)
	m.SetResourceVersion("")
	m.SetCreationTimestamp(metav1.Time{})
	return s.createAbsent(ctx, creation{collection: u.collection, namespace: u.namespace, object: obj, dryRun: u.dryRun, manager: u.manager})
}

// update is a write to an object that exists, or may be created by it.
type update struct {
	collection      *collection
	namespace, name string
	part            part
	dryRun          bool
	seed            bool   // in process: needs no version, and checks no more than where the object goes
	manager         string // the field manager
	applied         bool   // change has set the managed fields
	asked           bool   // change has asked the admissions
	direct          bool   // change decides about all of the object
	patched         bool   // change has made the wanted state of the present one
	// change returns the wanted state, a new object, given the present one,
	// which is shared.
	change func(present runtime.Object) (runtime.Object, error)
	// create, if not nil, creates an object that is absent. It returns store.ErrChanged if
	// there is one meanwhile.
	create func(ctx context.Context) (runtime.Object, error)
}

// update applies u to the present state, again if another write comes between.
func (s *Server) update(ctx context.Context, u update) (runtime.Object, error) {
	for {
		stored, err := u.attempt(ctx, s)
		if !errors.Is(err, store.ErrChanged) {
			return stored, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// attempt applies u to the present state. It returns store.ErrChanged if that is no longer the
// present one.
func (u update) attempt(ctx context.Context, s *Server) (runtime.Object, error) {
	key := u.collection.key(u.namespace, u.name)
	present, _ := u.collection.table.Get(key)
	switch {
	case present == nil && u.create != nil:
		return u.create(ctx)
	case present == nil:
		return nil, apierrors.NewNotFound(u.collection.groupResource(), u.name)
	}
	wanted, err := u.change(present.Object)
	if err != nil {
		return nil, err
	}
	if u.direct {
		return u.commit(key, present, wanted)
	}
	if wanted, err = u.complete(present.Object, wanted); err != nil {
		return nil, err
	}
	if wanted, err = u.track(present.Object, wanted); err != nil {
		return nil, err
	}
	if wanted, err = u.admit(ctx, s.settings, present.Object, wanted); err != nil {
		return nil, err
	}
	if err := u.validate(present.Object, wanted); err != nil {
		return nil, err
	}
	return u.commit(key, present, wanted)
}

func (u update) commit(key string, present *store.Version, wanted runtime.Object) (runtime.Object, error) {
	switch {
	case u.dryRun:
		return wanted, nil
	case u.lastFinalizerGone(present.Object, wanted):
		// The answer has the version that was there before, as API servers have it,
		// which do not write the object once more (deleteWithoutFinalizers in
		// k8s.io/apiserver/pkg/registry/generic/registry/store.go).
		if _, err := u.collection.table.Delete(key, present); err != nil {
			return nil, err
		}
		copyVersion(present.Object, wanted)
		return wanted, nil
	case u.collection.equal(present.Object, wanted):
		// API servers do not write what changes nothing.
		return present.Object, nil
	}
	stored, err := u.collection.table.Put(key, present, wanted)
	if err != nil {
		return nil, err
	}
	return stored.Object, nil
}

// track notes in the wanted state which fields the manager has changed. As with API
// servers, an object without managed fields has none until something is applied to it.
func (u update) track(present, wanted runtime.Object) (runtime.Object, error) {
	if u.applied || u.seed && isTracked(wanted) || !isTracked(present) && !isTracked(wanted) {
		return wanted, nil
	}
	return u.collection.track(present, wanted, u.part, u.manager)
}

// complete checks the wanted state against the present one and returns it with
// the metadata that clients do not decide.
func (u update) complete(present, wanted runtime.Object) (runtime.Object, error) {
	c := u.collection
	old, m := metadataOf(present), metadataOf(wanted)
	if err := u.check(old, m); err != nil {
		return nil, err
	}
	switch u.part {
	case statusPart:
		merged := present.DeepCopyObject()
		copyStatus(wanted, merged)
		if u.applied {
			metadataOf(merged).SetManagedFields(m.GetManagedFields())
		}
		return merged, nil
	case finalizerPart:
		merged := present.DeepCopyObject()
		copyFinalizers(wanted, merged)
		return merged, nil
	case mainPart:
		copyStatus(present, wanted)
	}
	if c.terminates {
		keepNamespace(present, wanted)
	}
	m.SetUID(old.GetUID())
	m.SetResourceVersion(old.GetResourceVersion())
	m.SetCreationTimestamp(old.GetCreationTimestamp())
	u.keepDeletion(m, old)
	m.SetSelfLink("")
	if !u.seed {
		dropRepeatedOwners(m)
	}
	m.SetGeneration(old.GetGeneration())
	if c.generation && !(c.sameContent(present, wanted) && c.sameMetadata(old, m)) {
		m.SetGeneration(old.GetGeneration() + 1)
	}
	return wanted, nil
}

// validate checks the metadata of the object to be written.
func (u update) validate(present, wanted runtime.Object) error {
	if u.seed || u.part == statusPart || u.part == finalizerPart {
		return nil
	}
	return u.collection.validateUpdate(metadataOf(wanted), metadataOf(present))
}

// keepDeletion keeps the deletion marks of the present state. The validation refuses a client
// that sets a time for an object that is not deleted, or another grace period.
func (u update) keepDeletion(m, old metav1.Object) {
	if u.seed || old.GetDeletionTimestamp() != nil || m.GetDeletionTimestamp() == nil {
		m.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if u.seed || m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// check compares what identifies the object and its version. The UID of an update is a
// precondition. That of a patch is a field that cannot be changed, as with API servers.
func (u update) check(old, m metav1.Object) error {
	c := u.collection
	if err := u.checkName(m); err != nil {
		return err
	}
	if err := c.place(m, u.namespace); err != nil {
		return err
	}
	uid := m.GetUID()
	another := uid != "" && uid != old.GetUID()
	if another && !u.patched {
		return u.anotherUID(uid, old.GetUID())
	}
	switch rv := m.GetResourceVersion(); {
	case rv == "" || rv == "0":
		if c.conditional && !u.seed {
			return c.invalid(m, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
		}
	case rv != old.GetResourceVersion():
		return apierrors.NewConflict(c.groupResource(), u.name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if another && !(c.custom && u.part == statusPart) { // of which the metadata are left aside
		return c.invalid(m, field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), uid, apivalidation.FieldImmutableErrorMsg)})
	}
	return nil
}

// checkName compares the name of the object with that of the request.
func (u update) checkName(m metav1.Object) error {
	if m.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", u.name))
	}
	if m.GetName() != u.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), u.name))
	}
	return nil
}

// anotherUID is the answer to an update of an object that has another UID, or none as it is absent.
func (u update) anotherUID(wanted, present types.UID) error {
	return apierrors.NewConflict(u.collection.groupResource(), u.name, unmet("UID", string(wanted), string(present)))
}

// unmet is the error of a precondition that the present object does not meet.
func unmet(of, wanted, present string) error {
	//lint:ignore ST1005 these are the words of a real server
	return fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", of, wanted, of, present)
}

// lastFinalizerGone reports whether an update lets a pending deletion happen: there
// is no finalizer any more, and nothing to wait for.
func (u update) lastFinalizerGone(present, wanted runtime.Object) bool {
	if u.collection.terminates && held(wanted) {
		return false
	}
	old := metadataOf(present)
	return old.GetDeletionTimestamp() != nil && ptr.Deref(old.GetDeletionGracePeriodSeconds(), 0) == 0 && len(metadataOf(wanted).GetFinalizers()) == 0
}
