package apitest

import (
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// serveBinding puts a Pod on a node, as schedulers do.
func (s *Server) serveBinding(w http.ResponseWriter, req *request) error {
	options, err := req.createOptions()
	if err != nil {
		return err
	}
	data, err := req.body()
	if err != nil {
		return err
	}
	sent := &corev1.Binding{}
	if err := req.decodeAction(data, sent, bindingKind); err != nil {
		return err
	}
	if err := req.checkAction(sent, bindingKind); err != nil {
		return err
	}
	dryRun := isDryRun(options.DryRun)
	obj, err := s.askAction(req, sent, bindingKind, dryRun)
	if err != nil {
		return err
	}
	binding := obj.(*corev1.Binding)
	if errs := validateBinding(binding); len(errs) > 0 {
		return errs.ToAggregate()
	}
	_, err = s.update(req.Context(), update{
		collection: req.collection, namespace: req.namespace, name: req.name, dryRun: dryRun, direct: true,
		change: func(present runtime.Object) (runtime.Object, error) { return bind(present.(*corev1.Pod), binding) },
	})
	if err != nil {
		return err
	}
	return s.answer(w, req, http.StatusCreated, succeeded())
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	target := field.NewPath("target")
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		return append(errs, field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		return append(errs, field.Required(target.Child("name"), ""))
	}
	for _, message := range apivalidation.NameIsDNSSubdomain(b.Target.Name, false) {
		errs = append(errs, field.Invalid(target.Child("name"), b.Target.Name, message))
	}
	return errs
}

// bind returns a Pod on the node of a binding. It returns a conflict if it cannot get there.
func bind(present *corev1.Pod, b *corev1.Binding) (runtime.Object, error) {
	conflict := func(resource string, err error) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: resource}, present.Name, err)
	}
	switch {
	case b.UID != "" && b.UID != present.UID:
		return nil, conflict("pods", unmet("UID", string(b.UID), string(present.UID)))
	case b.ResourceVersion != "" && b.ResourceVersion != present.ResourceVersion:
		return nil, conflict("pods", unmet("ResourceVersion", b.ResourceVersion, present.ResourceVersion))
	case present.DeletionTimestamp != nil:
		return nil, conflict("pods/binding", fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", present.Name))
	case present.Spec.NodeName != "":
		return nil, conflict("pods/binding", fmt.Errorf("pod %s is already assigned to node %q", present.Name, present.Spec.NodeName))
	case len(present.Spec.SchedulingGates) > 0:
		return nil, conflict("pods/binding", fmt.Errorf("pod %s has non-empty .spec.schedulingGates", present.Name))
	}
	pod := present.DeepCopy()
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = ""
	pod.Annotations = merged(pod.Annotations, b.Annotations)
	pod.Labels = merged(pod.Labels, b.Labels)
	setCondition(&pod.Status, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return pod, nil
}

func merged(into, from map[string]string) map[string]string {
	if into == nil && len(from) > 0 {
		into = map[string]string{}
	}
	maps.Copy(into, from)
	return into
}

// setCondition adds a condition, or replaces the one of its type. Its time stays if its status does.
func setCondition(status *corev1.PodStatus, c corev1.PodCondition) {
	c.LastTransitionTime = metav1.Now().Rfc3339Copy()
	for i, old := range status.Conditions {
		if old.Type == c.Type {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			status.Conditions[i] = c
			return
		}
	}
	status.Conditions = append(status.Conditions, c)
}
