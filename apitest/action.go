package apitest

import (
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

// decodeAction decodes a body such as a Binding, with its kind set.
func (r *request) decodeAction(data []byte, into runtime.Object, kind schema.GroupVersionKind) error {
	err := wire.Decode(r.Header.Get("Content-Type"), data, kind, true, into)
	into.GetObjectKind().SetGroupVersionKind(kind)
	return err
}

// checkAction returns an error if an action is not about the object of the request.
func (r *request) checkAction(m metav1.Object, kind schema.GroupVersionKind) error {
	if err := r.collection.place(m, r.namespace); err != nil {
		return err
	}
	if m.GetName() != r.name {
		return apierrors.NewBadRequest(fmt.Sprintf("name in URL does not match name in %s object", kind.Kind))
	}
	return nil
}

// askAction asks the admissions about an action, and returns it as they have left it.
func (s *Server) askAction(r *request, obj runtime.Object, kind schema.GroupVersionKind, dryRun bool) (runtime.Object, error) {
	a := &Admission{
		Operation: admissionv1.Create, Kind: kind, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
		Object: obj, DryRun: dryRun,
	}
	_, err := s.settings.ask(r.Context(), r.collection, a)
	return a.Object, err
}

// succeeded is the answer to an action.
func succeeded() *metav1.Status {
	status := &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}
	status.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("Status"))
	return status
}
