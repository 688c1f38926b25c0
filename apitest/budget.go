package apitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// maxDisrupted is how many evicted Pods a budget may list that its controller has not seen yet.
const maxDisrupted = 2000

// allowEviction takes an eviction from the budget of a Pod. It returns an API status if the budget
// forbids it. only says that the Pod is allowed to go in its present state alone.
func (s *Server) allowEviction(ctx context.Context, pod *corev1.Pod, dryRun bool) (only bool, err error) {
	switch phase := pod.Status.Phase; {
	case phase == corev1.PodSucceeded, phase == corev1.PodFailed, pod.DeletionTimestamp != nil:
		return false, nil
	case phase == corev1.PodPending:
		return true, nil
	}
	budgets, err := s.budgetsOf(pod)
	switch {
	case err != nil:
		return false, err
	case len(budgets) == 0:
		return false, nil
	case len(budgets) > 1:
		return false, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	budget := budgets[0]
	if !isReady(pod) && sparesUnready(budget) {
		return true, nil
	}
	_, err = s.update(ctx, update{
		collection: s.catalog.byKind[budgetKind], namespace: budget.Namespace, name: budget.Name,
		part: statusPart, dryRun: dryRun, manager: "kube-apiserver",
		change: func(present runtime.Object) (runtime.Object, error) {
			return spend(present.(*policyv1.PodDisruptionBudget), pod.Name)
		},
	})
	return false, err
}

var budgetKind = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")

// budgetsOf returns the budgets that select a Pod. As in Kubernetes, one whose selector is invalid
// selects none.
func (s *Server) budgetsOf(pod *corev1.Pod) (selecting []*policyv1.PodDisruptionBudget, err error) {
	c := s.catalog.byKind[budgetKind]
	if c == nil {
		return nil, nil
	}
	versions, _, err := c.table.List(c.prefix(pod.Namespace), "", 0)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		budget, ok := v.Object.(*policyv1.PodDisruptionBudget)
		if !ok {
			return nil, apierrors.NewInternalError(fmt.Errorf("evictions need budgets of k8s.io/api/policy/v1 in the store, not %T", v.Object))
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			selecting = append(selecting, budget)
		}
	}
	return selecting, nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// sparesUnready reports whether a Pod that is not ready may go without a disruption.
func sparesUnready(budget *policyv1.PodDisruptionBudget) bool {
	status := &budget.Status
	return ptr.Deref(budget.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow ||
		status.CurrentHealthy >= status.DesiredHealthy && status.DesiredHealthy > 0
}

// spend returns a budget with one disruption less.
func spend(present *policyv1.PodDisruptionBudget, pod string) (runtime.Object, error) {
	if err := checkBudget(present); err != nil {
		return nil, err
	}
	budget := present.DeepCopy()
	status := &budget.Status
	if status.DisruptionsAllowed--; status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
			Reason: policyv1.InsufficientPodsReason, ObservedGeneration: status.ObservedGeneration,
			LastTransitionTime: metav1.Now().Rfc3339Copy(),
		})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod] = metav1.Now().Rfc3339Copy()
	return budget, nil
}

// checkBudget returns an API status, with the cause DisruptionBudget, if a budget allows no disruption.
func checkBudget(budget *policyv1.PodDisruptionBudget) error {
	const violates = "Cannot evict pod as it would violate the pod's disruption budget."
	resource := schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"} // singular, as there
	status := &budget.Status
	var refused *apierrors.StatusError
	var cause string
	switch {
	case status.ObservedGeneration < budget.Generation:
		refused, cause = apierrors.NewTooManyRequests(violates, 10), "is still being processed by the server."
	case status.DisruptionsAllowed < 0:
		refused = apierrors.NewForbidden(resource, budget.Name, errors.New("pdb disruptions allowed is negative"))
		cause = "does not allow evicting pods currently: pdb disruptions allowed is negative"
	case len(status.DisruptedPods) > maxDisrupted:
		refused = apierrors.NewForbidden(resource, budget.Name, errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
		cause = "does not allow evicting pods currently: too many pending evictions not confirmed by PDB controller"
	case status.DisruptionsAllowed > 0:
		return nil
	case status.CurrentHealthy <= status.DesiredHealthy:
		refused = apierrors.NewTooManyRequests(violates, 0)
		cause = fmt.Sprintf("needs %d healthy pods and has %d currently", status.DesiredHealthy, status.CurrentHealthy)
	default:
		refused, cause = apierrors.NewTooManyRequests(violates, 0), "does not allow evicting pods currently"
	}
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budget.Name + " " + cause,
	})
	return refused
}
