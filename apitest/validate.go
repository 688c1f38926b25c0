package apitest

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nameFunc returns the rule for names: DNS subdomains, except for namespaces and Services, whose
// names are labels, and RBAC and a few kinds, whose names are free.
func (c *collection) nameFunc() apivalidation.ValidateNameFunc {
	switch kind := c.kind.GroupKind(); {
	case kind.Group == "rbac.authorization.k8s.io", kind == schema.GroupKind{Group: "networking.k8s.io", Kind: "IPAddress"},
		kind.Group == "certificates.k8s.io" && (kind.Kind == "CertificateSigningRequest" || kind.Kind == "ClusterTrustBundle"):
		return validatePathSegment
	case kind.Group == "" && (kind.Kind == "Namespace" || kind.Kind == "Service"):
		return apivalidation.NameIsDNSLabel
	}
	return apivalidation.NameIsDNSSubdomain
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
		return c.invalid(m, apivalidation.ValidateObjectMetaAccessor(m, c.namespaced, c.nameFunc(), path))
	}
	bare := &metav1.ObjectMeta{Name: m.GetName(), Namespace: m.GetNamespace()}
	return c.invalid(m, apivalidation.ValidateObjectMetaAccessor(bare, c.namespaced, c.nameFunc(), path))
}

func (c *collection) validateUpdate(m, old metav1.Object) error {
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMetaAccessor(m, c.namespaced, c.nameFunc(), path)
	return c.invalid(m, append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(m, old, path)...))
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
