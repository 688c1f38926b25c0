package apitest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nameFunc returns the rule for names: DNS subdomains, except for namespaces, Services and
// StatefulSets, whose names are labels, and RBAC and a few kinds, whose names are free.
func (c *collection) nameFunc() apivalidation.ValidateNameFunc {
	switch kind := c.kind.GroupKind(); {
	case kind.Group == "rbac.authorization.k8s.io", kind == schema.GroupKind{Group: "networking.k8s.io", Kind: "IPAddress"},
		kind == schema.GroupKind{Kind: "Event"}, kind == schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"},
		kind.Group == "certificates.k8s.io" && (kind.Kind == "CertificateSigningRequest" || kind.Kind == "ClusterTrustBundle"):
		return validatePathSegment
	case kind.Group == "" && (kind.Kind == "Namespace" || kind.Kind == "Service"), kind == schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		return apivalidation.NameIsDNSLabel
	case kind == schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		return validateCronJobName
	}
	return apivalidation.NameIsDNSSubdomain
}

// longestCronJob is the length that the name of a CronJob may have: those of its Jobs have 11 bytes
// more.
const longestCronJob = 52

func validateCronJobName(name string, prefix bool) []string {
	errs := apivalidation.NameIsDNSSubdomain(name, prefix)
	if !prefix && len(name) > longestCronJob {
		errs = append(errs, fmt.Sprintf("must be no more than %d characters", longestCronJob))
	}
	return errs
}

// validatePathSegment is the rule for names that only have to fit into a URL; of
// a prefix, which gets a suffix, less is asked.
func validatePathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// validate checks the metadata of an object to be created; of a seed, no more
// than what its key is made of.
func (c *collection) validate(m metav1.Object, seed bool) error {
	path := field.NewPath("metadata")
	if !seed {
		errs := apivalidation.ValidateObjectMetaAccessor(m, c.namespaced, c.nameFunc(), path)
		return c.invalid(m, append(errs, c.validateFinalizers(m, path)...))
	}
	bare := &metav1.ObjectMeta{Name: m.GetName(), Namespace: m.GetNamespace()}
	return c.invalid(m, apivalidation.ValidateObjectMetaAccessor(bare, c.namespaced, c.nameFunc(), path))
}

func (c *collection) validateUpdate(m, old metav1.Object) error {
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMetaAccessor(m, c.namespaced, c.nameFunc(), path)
	errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(m, old, path)...)
	return c.invalid(m, append(errs, c.validateFinalizers(m, path)...))
}

// anyFinalizer are the kinds of Kubernetes, by group, whose finalizers need no domain, as those of
// custom resources need none.
var anyFinalizer = map[string][]string{
	"": {"Event"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":   {"CustomResourceDefinition"},
	"apiregistration.k8s.io": {"APIService"},
	"coordination.k8s.io":    {"Lease", "LeaseCandidate"},
	"node.k8s.io":            {"RuntimeClass"},
	"policy":                 {"PodDisruptionBudget"},
}

// validateFinalizers refuses finalizers of kinds of Kubernetes that are neither its own nor have a
// domain.
func (c *collection) validateFinalizers(m metav1.Object, path *field.Path) (errs field.ErrorList) {
	if c.custom || slices.Contains(anyFinalizer[c.kind.Group], c.kind.Kind) {
		return nil
	}
	for i, finalizer := range m.GetFinalizers() {
		if !strings.Contains(finalizer, "/") && finalizer != string(corev1.FinalizerKubernetes) && !isPropagation(finalizer) {
			errs = append(errs, field.Invalid(path.Child("finalizers").Index(i), finalizer,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func (c *collection) invalid(m metav1.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(c.kind.GroupKind(), m.GetName(), errs)
}

// place puts an object into the namespace of the request, or refuses one that
// says it is in another.
func (c *collection) place(m metav1.Object, namespace string) error {
	switch {
	case !c.namespaced:
		m.SetNamespace("")
	case m.GetNamespace() == "":
		m.SetNamespace(namespace)
	case m.GetNamespace() != namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}
