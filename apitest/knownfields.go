package apitest

import (
	"cmp"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// knownFields are the field selectors that API servers have for built-in kinds.
var knownFields = map[schema.GroupKind]map[string]FieldFunc{
	{Kind: "Pod"}: {
		"spec.nodeName":            valueOf(func(p *corev1.Pod) string { return p.Spec.NodeName }),
		"spec.restartPolicy":       valueOf(func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		"spec.schedulerName":       valueOf(func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		"spec.serviceAccountName":  valueOf(func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		"spec.hostNetwork":         valueOf(func(p *corev1.Pod) string { return strconv.FormatBool(p.Spec.HostNetwork) }),
		"status.phase":             valueOf(func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		"status.podIP":             valueOf(func(p *corev1.Pod) string { return p.Status.PodIP }),
		"status.nominatedNodeName": valueOf(func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
	},
	{Kind: "Event"}: {
		"involvedObject.kind":            valueOf(func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		"involvedObject.namespace":       valueOf(func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		"involvedObject.name":            valueOf(func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		"involvedObject.uid":             valueOf(func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		"involvedObject.apiVersion":      valueOf(func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		"involvedObject.resourceVersion": valueOf(func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		"involvedObject.fieldPath":       valueOf(func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		"reason":                         valueOf(func(e *corev1.Event) string { return e.Reason }),
		"reportingComponent":             valueOf(func(e *corev1.Event) string { return e.ReportingController }),
		"source":                         valueOf(func(e *corev1.Event) string { return cmp.Or(e.Source.Component, e.ReportingController) }),
		"type":                           valueOf(func(e *corev1.Event) string { return e.Type }),
	},
	{Kind: "Namespace"}: {
		"status.phase": valueOf(func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
	},
	{Kind: "Node"}: {
		"spec.unschedulable": valueOf(func(n *corev1.Node) string { return strconv.FormatBool(n.Spec.Unschedulable) }),
	},
	{Kind: "ReplicationController"}: {
		"status.replicas": valueOf(func(r *corev1.ReplicationController) string { return strconv.Itoa(int(r.Status.Replicas)) }),
	},
	{Kind: "Secret"}: {
		"type": valueOf(func(s *corev1.Secret) string { return string(s.Type) }),
	},
	{Kind: "Service"}: {
		"spec.clusterIP": valueOf(func(s *corev1.Service) string { return s.Spec.ClusterIP }),
		"spec.type":      valueOf(func(s *corev1.Service) string { return string(s.Spec.Type) }),
	},
	{Group: "batch", Kind: "Job"}: {
		"status.successful": valueOf(func(j *batchv1.Job) string { return strconv.Itoa(int(j.Status.Succeeded)) }),
	},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {
		"spec.signerName": valueOf(func(r *certificatesv1.CertificateSigningRequest) string { return r.Spec.SignerName }),
	},
	{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}: {
		"spec.signerName": valueOf(func(b *certificatesv1.ClusterTrustBundle) string { return b.Spec.SignerName }),
	},
	{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}: {
		"spec.signerName": valueOf(func(r *certificatesv1.PodCertificateRequest) string { return r.Spec.SignerName }),
		"spec.podName":    valueOf(func(r *certificatesv1.PodCertificateRequest) string { return r.Spec.PodName }),
		"spec.nodeName":   valueOf(func(r *certificatesv1.PodCertificateRequest) string { return string(r.Spec.NodeName) }),
	},
	{Group: "events.k8s.io", Kind: "Event"}: {
		"regarding.kind":            valueOf(func(e *eventsv1.Event) string { return e.Regarding.Kind }),
		"regarding.namespace":       valueOf(func(e *eventsv1.Event) string { return e.Regarding.Namespace }),
		"regarding.name":            valueOf(func(e *eventsv1.Event) string { return e.Regarding.Name }),
		"regarding.uid":             valueOf(func(e *eventsv1.Event) string { return string(e.Regarding.UID) }),
		"regarding.apiVersion":      valueOf(func(e *eventsv1.Event) string { return e.Regarding.APIVersion }),
		"regarding.resourceVersion": valueOf(func(e *eventsv1.Event) string { return e.Regarding.ResourceVersion }),
		"regarding.fieldPath":       valueOf(func(e *eventsv1.Event) string { return e.Regarding.FieldPath }),
		"reason":                    valueOf(func(e *eventsv1.Event) string { return e.Reason }),
		"reportingController":       valueOf(func(e *eventsv1.Event) string { return e.ReportingController }),
		"type":                      valueOf(func(e *eventsv1.Event) string { return e.Type }),
	},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}: {
		"spec.nodeName":  valueOf(func(s *resourcev1.ResourceSlice) string { return ptr.Deref(s.Spec.NodeName, "") }),
		"spec.driver":    valueOf(func(s *resourcev1.ResourceSlice) string { return s.Spec.Driver }),
		"spec.pool.name": valueOf(func(s *resourcev1.ResourceSlice) string { return s.Spec.Pool.Name }),
	},
}

// valueOf makes a FieldFunc of one for a Go type; objects of another type, such as
// another version of the kind, have no value.
func valueOf[T runtime.Object](value func(T) string) FieldFunc {
	return func(obj runtime.Object) string {
		if t, ok := obj.(T); ok {
			return value(t)
		}
		return ""
	}
}
