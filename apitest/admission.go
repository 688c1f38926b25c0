package apitest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Admission is a write that an [AdmissionFunc] is asked about.
type Admission struct {
	// Operation is Create, Update or Delete. A patch is an update; what is applied is a
	// create or an update.
	Operation admissionv1.Operation
	// Resource and Kind are those of the request.
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	// Subresource is "status", "finalize", "scale", "binding", "eviction", or empty for the
	// object. For the last three, Object is what the client has sent: a Scale, of which Old is
	// the present one, or a Binding or an Eviction, which are created.
	Subresource string
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	// Name is empty if it is to be generated.
	Name string
	// Object is what is to be written, with the metadata that the server sets. The
	// function may change it; it is nil for a delete. Kinds of the scheme are objects of
	// their Go type, others are unstructured.
	Object runtime.Object
	// Old is what is there, a copy; it is nil for a create.
	Old runtime.Object
	// DryRun says that nothing is going to be written.
	DryRun bool
}

// AdmissionFunc lets a write through, changes what is written, or refuses it by an
// error; see [WithAdmission].
type AdmissionFunc func(ctx context.Context, a *Admission) error

// admission is an AdmissionFunc with its name.
type admission struct {
	name  string
	admit AdmissionFunc
}

// WithAdmission makes a function decide about writes, as an admission webhook of that name
// does, mutating and validating in one. Options add up: functions are asked in their order,
// each with what the one before has left.
//
// A write that is refused is answered with 403 Forbidden and the words of the error, or, if
// the error is an API status (k8s.io/apimachinery/pkg/api/errors), with that. Fields that the
// function may not change are restored after it: metadata that the server sets, and the status
// or everything else, whichever the write does not change. A changed name is refused.
//
// The function is called from many goroutines, without a lock; it may read and write the
// server. It is asked again if another write comes between, and may be asked about a write
// that then fails. It is not asked about objects stored without HTTP. The deletions of
// [WithGarbageCollection] and [WithNamespaceLifecycle] are asked about.
func WithAdmission(name string, admit AdmissionFunc) Option {
	return func(s *settings) error {
		if name == "" || admit == nil {
			return fmt.Errorf("the admission %q has no name or no function", name)
		}
		s.admissions = append(s.admissions, admission{name, admit})
		return nil
	}
}

// ask asks all functions about a write, and returns the metadata of the object to be written. It
// returns an API status if one refuses it.
func (s *settings) ask(ctx context.Context, c *collection, a *Admission) (metav1.Object, error) {
	a.Resource = c.resource
	if a.Kind.Empty() {
		a.Kind = c.kind
	}
	wanted, name := reflect.TypeOf(a.Object), a.Name
	for _, f := range s.admissions {
		if err := f.admit(ctx, a); err != nil {
			return nil, denied(f.name, err)
		}
		if got := reflect.TypeOf(a.Object); got != wanted {
			return nil, apierrors.NewInternalError(fmt.Errorf("admission %q has made %v of %v", f.name, got, wanted))
		}
		if a.Object != nil {
			a.Object.GetObjectKind().SetGroupVersionKind(a.Kind)
		}
	}
	if wanted == nil {
		return nil, nil
	}
	m := metadataOf(a.Object)
	if m.GetName() != name {
		return nil, apierrors.NewInternalError(fmt.Errorf("an admission has renamed %q to %q", name, m.GetName()))
	}
	return m, nil
}

// denied is the answer to a write that is refused.
func denied(name string, cause error) error {
	status := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: cause.Error(),
	}
	var api apierrors.APIStatus
	if errors.As(cause, &api) {
		status = *statusOf(cause)
	}
	status.Code = max(status.Code, http.StatusBadRequest)
	status.Status = metav1.StatusFailure
	status.Message = fmt.Sprintf("admission webhook %q denied the request: %s", name, cmp.Or(status.Message, string(status.Reason)))
	return &apierrors.StatusError{ErrStatus: status}
}

// admit asks about a create, and returns what is to be stored.
func (cr creation) admit(ctx context.Context, s *settings) (runtime.Object, error) {
	if len(s.admissions) == 0 || cr.seed {
		return cr.object, nil
	}
	m := metadataOf(cr.object)
	a := &Admission{
		Operation: admissionv1.Create, Namespace: m.GetNamespace(), Name: m.GetName(),
		Object: cr.object.DeepCopyObject(), DryRun: cr.dryRun,
	}
	changed, err := s.ask(ctx, cr.collection, a)
	if err != nil {
		return nil, err
	}
	if cr.collection.clearsStatus() {
		copyStatus(cr.object, a.Object)
	}
	changed.SetUID(m.GetUID())
	changed.SetResourceVersion("")
	changed.SetCreationTimestamp(m.GetCreationTimestamp())
	return a.Object, cr.complete(changed, s.random)
}

// admit asks about an update, and returns what is to be stored.
func (u update) admit(ctx context.Context, s *settings, present, wanted runtime.Object) (runtime.Object, error) {
	if len(s.admissions) == 0 || u.seed || u.asked {
		return wanted, nil
	}
	a := &Admission{
		Operation: admissionv1.Update, Subresource: subresources[u.part], Namespace: u.namespace, Name: u.name,
		Object: wanted.DeepCopyObject(), Old: present.DeepCopyObject(), DryRun: u.dryRun,
	}
	changed, err := s.ask(ctx, u.collection, a)
	if err != nil {
		return nil, err
	}
	old := metadataOf(present)
	changed.SetUID(old.GetUID())
	changed.SetResourceVersion(old.GetResourceVersion())
	u.applied = true // the managed fields are set
	return u.complete(present, a.Object)
}

// admit asks about a delete.
func (r removal) admit(ctx context.Context, s *settings, present runtime.Object) error {
	if len(s.admissions) == 0 || r.seed {
		return nil
	}
	_, err := s.ask(ctx, r.collection, &Admission{
		Operation: admissionv1.Delete, Namespace: r.namespace, Name: r.name,
		Old: present.DeepCopyObject(), DryRun: isDryRun(r.options.DryRun),
	})
	return err
}
