package apitest

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// replicas is the part of an object that its scale shows.
type replicas struct {
	wanted   **int32 // nil: one
	present  int32
	selector *metav1.LabelSelector
}

// replicasOf returns that of an object of Kubernetes, false if its kind has none.
func replicasOf(obj runtime.Object) (replicas, bool) {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return replicas{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	case *appsv1.ReplicaSet:
		return replicas{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	case *appsv1.StatefulSet:
		return replicas{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	case *corev1.ReplicationController:
		return replicas{&o.Spec.Replicas, o.Status.Replicas, &metav1.LabelSelector{MatchLabels: o.Spec.Selector}}, true
	default:
		return replicas{}, false
	}
}

// replicasPath is where replicas are in a scale, and in the objects that have one.
var replicasPath = fieldpath.MakePathOrDie("spec", "replicas")

// scales are the scales of all objects, as far as they are alike.
var scales = newScales()

func newScales() *collection {
	c := &collection{
		kind: scaleKind, resource: scaleKind.GroupVersion().WithResource("scales"), namespaced: true, protobuf: true, scheme: kubernetes.Scheme,
	}
	c.managers = sync.OnceValues(func() (*fieldManagers, error) {
		all, err := c.newFieldManager("scale", fieldpath.NewExcludeSetFilter(fieldpath.NewSet()))
		return &fieldManagers{object: all, status: all}, err
	})
	return c
}

// scaleOf returns the scale of an object as it is stored.
func scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	m := metadataOf(obj)
	scale := scales.empty().(*autoscalingv1.Scale)
	scale.ObjectMeta = metav1.ObjectMeta{
		Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
	}
	if known, ok := replicasOf(obj); ok {
		selector, err := metav1.LabelSelectorAsSelector(known.selector)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		scale.Spec.Replicas = ptr.Deref(*known.wanted, 1)
		scale.Status = autoscalingv1.ScaleStatus{Replicas: known.present, Selector: selector.String()}
		return scale, nil
	}
	content, err := fieldsOf(obj)
	if err != nil {
		return nil, err
	}
	wanted, found, err := unstructured.NestedInt64(content, "spec", "replicas")
	if err != nil {
		return nil, err
	} else if !found {
		return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", replicasPath))
	}
	present, _, err := unstructured.NestedInt64(content, "status", "replicas")
	if err != nil {
		return nil, err
	}
	scale.Spec.Replicas, scale.Status.Replicas = int32(wanted), int32(present)
	if int64(scale.Spec.Replicas) != wanted || int64(scale.Status.Replicas) != present {
		return nil, fmt.Errorf("replicas %d and %d have more than 32 bits", wanted, present)
	}
	scale.Status.Selector, _, err = unstructured.NestedString(content, "status", "selector")
	return scale, err
}

// withReplicas returns a copy of an object with another number of replicas.
func (c *collection) withReplicas(obj runtime.Object, n int32) (runtime.Object, error) {
	scaled := obj.DeepCopyObject()
	if known, ok := replicasOf(scaled); ok {
		*known.wanted = &n
		return scaled, nil
	}
	content, err := fieldsOf(scaled)
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(content, int64(n), "spec", "replicas"); err != nil {
		return nil, err
	}
	return c.adopt(&unstructured.Unstructured{Object: content})
}

// fieldsOf returns the JSON of a custom resource, which may be shared.
func fieldsOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return asJSON(obj)
}

func (s *Server) serveScale(w http.ResponseWriter, req *request) error {
	found, err := req.find()
	if err != nil {
		return err
	}
	return s.answerScale(w, req, found)
}

func (s *Server) answerScale(w http.ResponseWriter, req *request, stored runtime.Object) error {
	scale, err := scaleOf(stored)
	if err != nil {
		return err
	}
	return s.answer(w, req, http.StatusOK, scale)
}

func (s *Server) serveUpdateScale(w http.ResponseWriter, req *request) error {
	options, err := req.updateOptions()
	if err != nil {
		return err
	}
	obj, err := req.objectOf(scales)
	if err != nil {
		return err
	}
	manager := req.managerOf(options.FieldManager)
	return s.rescale(w, req, isDryRun(options.DryRun), func(present runtime.Object) (runtime.Object, error) {
		return scales.track(present, obj.DeepCopyObject(), wholePart, manager)
	})
}

func (s *Server) servePatchScale(w http.ResponseWriter, req *request) error {
	kind, options, data, err := req.patchBody()
	if err != nil {
		return err
	}
	dryRun := isDryRun(options.DryRun)
	if kind == types.ApplyYAMLPatchType {
		applied := *req
		applied.collection = scales
		a, err := applied.application(data, options)
		if err != nil {
			return err
		}
		return s.rescale(w, req, dryRun, a.merge)
	}
	manager := req.managerOf(options.FieldManager)
	return s.rescale(w, req, dryRun, func(present runtime.Object) (runtime.Object, error) {
		patched, err := scales.patch(kind, data, present)
		if err != nil {
			return nil, err
		}
		return scales.track(present, patched, wholePart, manager)
	})
}

// rescale updates an object by a change of its scale, and answers with the new one. change returns
// a new scale with its managed fields.
func (s *Server) rescale(w http.ResponseWriter, req *request, dryRun bool, change func(present runtime.Object) (runtime.Object, error)) error {
	c := req.collection.storage()
	u := update{
		collection: c, namespace: req.namespace, name: req.name, part: c.whole(), dryRun: dryRun, applied: true, asked: true,
	}
	u.change = func(present runtime.Object) (runtime.Object, error) {
		fields := managedfields.NewScaleHandler(metadataOf(present).GetManagedFields(), c.kind.GroupVersion(),
			managedfields.ResourcePathMappings{c.kind.GroupVersion().String(): replicasPath})
		before, err := scaleOf(present)
		if err != nil {
			return nil, err
		}
		if before.ManagedFields, err = fields.ToSubresource(); err != nil {
			return nil, err
		}
		changed, err := change(before)
		if err != nil {
			return nil, err
		}
		after, err := u.admitScale(req.Context(), s.settings, before, changed)
		if err != nil {
			return nil, err
		}
		scaled, err := c.withReplicas(present, after.Spec.Replicas)
		if err != nil {
			return nil, err
		}
		m := metadataOf(scaled)
		if after.ResourceVersion != "" {
			m.SetResourceVersion(after.ResourceVersion)
		}
		owned, err := fields.ToParent(after.ManagedFields)
		m.SetManagedFields(owned)
		return inSeconds(scaled), err
	}
	scaled, err := s.update(req.Context(), u)
	if err != nil {
		return err
	}
	return s.answerScale(w, req, scaled)
}

// admitScale checks a changed scale, and asks about it.
func (u update) admitScale(ctx context.Context, s *settings, before *autoscalingv1.Scale, changed runtime.Object) (*autoscalingv1.Scale, error) {
	m := metadataOf(changed)
	if err := u.checkName(m); err != nil {
		return nil, err
	}
	if err := u.collection.place(m, u.namespace); err != nil {
		return nil, err
	}
	a := &Admission{
		Operation: admissionv1.Update, Kind: scaleKind, Subresource: "scale", Namespace: u.namespace, Name: u.name,
		Object: changed, Old: before.DeepCopy(), DryRun: u.dryRun,
	}
	if _, err := s.ask(ctx, u.collection, a); err != nil {
		return nil, err
	}
	after := a.Object.(*autoscalingv1.Scale)
	if after.UID != "" && after.UID != before.UID {
		return nil, u.anotherUID(after.UID, before.UID)
	}
	if after.Spec.Replicas < 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}, u.name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), after.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	return after, nil
}
