package apitest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// FieldFunc returns the value of a field of obj for field selectors, "" when it
// is not set. obj is shared and must not be modified. A FieldFunc is called from
// many goroutines.
type FieldFunc func(obj runtime.Object) string

// Resource describes a resource to serve: a custom resource, or a kind of the
// scheme about which the server's guess is wrong.
type Resource struct {
	// GroupVersionResource names it, as in its URL.
	GroupVersionResource schema.GroupVersionResource
	// Kind of its objects. A kind that the scheme knows is served as that Go
	// type, any other as unstructured.
	Kind string
	// ClusterScoped says that its objects have no namespace.
	ClusterScoped bool
	// Status says that it has a status subresource: creates, but of Nodes, and updates
	// leave the status alone, updates and patches of /status change nothing else.
	Status bool
	// Scale says that a custom resource has a scale subresource: spec.replicas is what it
	// changes, and it shows status.replicas and status.selector, a text. Kinds of Kubernetes
	// that have one in a cluster have one without it.
	Scale bool
	// Type, if not nil, is an object of the Go type that programs use for the
	// resource where no scheme knows it, such as (*Network)(nil): what kube.FromREST
	// and kube.Writer take. Objects of that type can be stored without naming their
	// kind; see Server.Create. It does not change the answers.
	Type Object
	// StorageVersion, if not empty, is the version in which objects are stored, of which
	// this resource is another: what is written to one is read from both, at one resource
	// version, as with a custom resource of several versions. The resource in that version
	// is served as well, by the scheme or by another Resource. Server-side apply is for
	// the stored version only; admission and managed fields have it, too.
	StorageVersion string
	// Convert converts between this version and the StorageVersion. An error of it is one
	// of the request, or the end of the watch.
	Convert ConvertFunc
	// Fields are what field selectors may use besides metadata.name and
	// metadata.namespace, by label.
	Fields map[string]FieldFunc
}

func (r Resource) validate() error {
	gvr := r.GroupVersionResource
	switch {
	case r.Kind == "":
		return fmt.Errorf("resource %s: no kind", gvr)
	case gvr.Version == "" || len(utilvalidation.IsDNS1123Label(gvr.Version)) > 0:
		return fmt.Errorf("resource %s: invalid version %q", gvr, gvr.Version)
	case len(utilvalidation.IsDNS1123Label(gvr.Resource)) > 0:
		return fmt.Errorf("resource %s: invalid resource name %q", gvr, gvr.Resource)
	case gvr.Group != "" && len(utilvalidation.IsDNS1123Subdomain(gvr.Group)) > 0:
		return fmt.Errorf("resource %s: invalid group %q", gvr, gvr.Group)
	}
	if r.Convert != nil && !r.converted() {
		return fmt.Errorf("resource %s: it has a Convert and no other StorageVersion", gvr)
	}
	for label, f := range r.Fields {
		if label == "" || f == nil {
			return fmt.Errorf("resource %s: field %q has no function or no label", gvr, label)
		}
	}
	return nil
}

func (r Resource) kind() schema.GroupVersionKind {
	return r.GroupVersionResource.GroupVersion().WithKind(r.Kind)
}

// converted reports whether the resource is stored in another version.
func (r Resource) converted() bool {
	return r.StorageVersion != "" && r.StorageVersion != r.GroupVersionResource.Version
}
