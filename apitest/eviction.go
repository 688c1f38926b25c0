package apitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// serveEviction deletes a Pod, unless the PodDisruptionBudget that selects it forbids that. The
// rules are those of Kubernetes (pkg/registry/core/pod/storage/eviction.go).
func (s *Server) serveEviction(w http.ResponseWriter, req *request) error {
	options, err := req.createOptions()
	if err != nil {
		return err
	}
	obj, err := req.eviction()
	if err != nil {
		return err
	}
	dryRun := isDryRun(options.DryRun) || obj.DeleteOptions != nil && isDryRun(obj.DeleteOptions.DryRun)
	asked, err := s.askAction(req, obj, evictionKind, dryRun)
	if err != nil {
		return err
	}
	removing := ptr.Deref(asked.(*policyv1.Eviction).DeleteOptions, metav1.DeleteOptions{})
	if errs := metavalidation.ValidateDeleteOptions(&removing); len(errs) > 0 {
		return invalidOptions("DeleteOptions", errs)
	}
	switch {
	case len(removing.DryRun) == 0:
		removing.DryRun = options.DryRun
	case len(options.DryRun) > 0 && !slices.Equal(options.DryRun, removing.DryRun):
		//lint:ignore ST1005 these are the words of a real server
		return fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", options.DryRun, removing.DryRun)
	}
	e := eviction{removal{collection: req.collection, namespace: req.namespace, name: req.name, options: removing, seed: true}}
	if err := e.carryOut(req.Context(), s); err != nil {
		return err
	}
	return s.answer(w, req, http.StatusCreated, succeeded())
}

// eviction reads the body, which may be of either version.
func (r *request) eviction() (*policyv1.Eviction, error) {
	data, err := r.body()
	if err != nil {
		return nil, err
	}
	eviction, old := &policyv1.Eviction{}, &policyv1beta1.Eviction{}
	if err := r.decodeAction(data, eviction, evictionKind); err != nil {
		if r.decodeAction(data, old, policyv1beta1.SchemeGroupVersion.WithKind("Eviction")) != nil {
			return nil, err
		}
		eviction = &policyv1.Eviction{ObjectMeta: old.ObjectMeta, DeleteOptions: old.DeleteOptions}
		eviction.SetGroupVersionKind(evictionKind)
	}
	return eviction, r.checkAction(eviction, evictionKind)
}

// eviction is the removal of a Pod that counts as a disruption.
type eviction struct{ removal }

// carryOut evicts the Pod. If the rules allow that for its present state alone, and it changes
// meanwhile, they are applied again.
func (e eviction) carryOut(ctx context.Context, s *Server) error {
	key := e.collection.key(e.namespace, e.name)
	for {
		present, _ := e.collection.table.Get(key)
		if present == nil {
			return apierrors.NewNotFound(e.collection.groupResource(), e.name)
		}
		pod := present.Object.(*corev1.Pod)
		if err := e.checkPreconditions(pod); err != nil {
			return err
		}
		only, err := s.allowEviction(ctx, pod, isDryRun(e.options.DryRun))
		if err != nil {
			return err
		}
		err = e.markAndRemove(ctx, s, pod, only)
		if !errors.Is(err, errPodChanged) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

var errPodChanged = errors.New("the Pod has changed")

// markAndRemove adds the condition of an evicted Pod and deletes it. If only is true and the Pod is
// not as it was, it returns errPodChanged.
func (e eviction) markAndRemove(ctx context.Context, s *Server, pod *corev1.Pod, only bool) error {
	marking := update{
		collection: e.collection, namespace: e.namespace, name: e.name, dryRun: isDryRun(e.options.DryRun), direct: true,
		change: func(present runtime.Object) (runtime.Object, error) {
			if err := e.checkPreconditions(metadataOf(present)); err != nil {
				return nil, err
			}
			if only && metadataOf(present).GetResourceVersion() != pod.ResourceVersion {
				return nil, errPodChanged
			}
			marked := present.(*corev1.Pod).DeepCopy()
			setCondition(&marked.Status, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
			})
			return marked, nil
		},
	}
	marked, err := s.update(ctx, marking)
	if err != nil {
		return err
	}
	if wanted := e.options.Preconditions; wanted != nil && wanted.ResourceVersion != nil {
		// The marking has met it.
		e.options.Preconditions = &metav1.Preconditions{UID: wanted.UID, ResourceVersion: new(metadataOf(marked).GetResourceVersion())}
	}
	_, err = s.remove(ctx, e.removal)
	return err
}
