package apitest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	kubernetes "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/apitest/internal/store"
	"github.com/kubetyped/informer/internal/argument"
)

// catalog is everything the server serves. It does not change once built.
type catalog struct {
	scheme     *runtime.Scheme
	byResource map[schema.GroupVersionResource]*collection
	byKind     map[schema.GroupVersionKind]*collection
	byType     map[reflect.Type]*collection // of the types that no scheme knows
	namespaces *collection                  // if they have a life cycle
}

func newCatalog(s *store.Store, set *settings) (*catalog, error) {
	c := &catalog{
		scheme:     set.scheme,
		byResource: map[schema.GroupVersionResource]*collection{},
		byKind:     map[schema.GroupVersionKind]*collection{},
		byType:     map[reflect.Type]*collection{},
	}
	described := map[schema.GroupVersionKind]bool{}
	var stored, converted []Resource
	for _, r := range set.resources {
		if err := r.validate(); err != nil {
			return nil, err
		}
		described[r.kind()] = true
		if r.converted() {
			converted = append(converted, r)
		} else {
			stored = append(stored, r)
		}
	}
	for _, r := range resourcesOf(set.scheme) {
		if !described[r.kind()] {
			stored = append(stored, r)
		}
	}
	for _, r := range append(stored, converted...) {
		if err := c.add(s, r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// lastScheme is the scheme of the last server, since tests start many servers with one.
var lastScheme atomic.Pointer[knownResources]

type knownResources struct {
	scheme    *runtime.Scheme
	types     int // a scheme forgets none, so as many are the same
	resources []Resource
}

// resourcesOf describes the kinds of a scheme, in the order of their names.
func resourcesOf(scheme *runtime.Scheme) []Resource {
	types := scheme.AllKnownTypes()
	if last := lastScheme.Load(); last != nil && last.scheme == scheme && last.types == len(types) {
		return last.resources
	}
	kinds := slices.SortedFunc(maps.Keys(types), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	var resources []Resource
	for _, kind := range kinds {
		if servable(scheme, kind) {
			resources = append(resources, guess(scheme, kind))
		}
	}
	lastScheme.Store(&knownResources{scheme, len(types), resources})
	return resources
}

// servable reports whether a kind is that of a resource: it has object metadata
// and a list kind.
func servable(scheme *runtime.Scheme, kind schema.GroupVersionKind) bool {
	if kind.Version == runtime.APIVersionInternal || kind.Group == metav1.GroupName ||
		!scheme.Recognizes(kind.GroupVersion().WithKind(kind.Kind+"List")) {
		return false
	}
	obj, err := scheme.New(kind)
	if err != nil {
		return false
	}
	_, err = meta.Accessor(obj)
	return err == nil
}

// guess describes a kind of the scheme.
func guess(scheme *runtime.Scheme, kind schema.GroupVersionKind) Resource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return Resource{
		GroupVersionResource: plural,
		Kind:                 kind.Kind,
		ClusterScoped:        argument.IsClusterScoped(kind.Group, kind.Kind),
		Status:               hasStatus(scheme, kind),
		Fields:               knownFields[kind.GroupKind()],
	}
}

// groupsOfKubernetes are the groups whose kinds are no custom resources in a cluster: those of the
// API server, and of the servers that it aggregates. A program may have added its own groups to
// client-go's scheme: they have none of the types of k8s.io/api.
var groupsOfKubernetes = sync.OnceValue(func() map[string]bool {
	groups := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "metrics.k8s.io": true}
	for kind, of := range kubernetes.Scheme.AllKnownTypes() {
		if strings.HasPrefix(of.PkgPath(), "k8s.io/api/") {
			groups[kind.Group] = true
		}
	}
	return groups
})

// conditional are the kinds of Kubernetes, by group, of which every update has to name a resource
// version, as that of every custom resource has to.
var conditional = map[string][]string{
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":      {"CustomResourceDefinition"},
	"apiregistration.k8s.io":    {"APIService"},
	"certificates.k8s.io":       {"ClusterTrustBundle", "PodCertificateRequest"},
	"coordination.k8s.io":       {"Lease", "LeaseCandidate"},
	"internal.apiserver.k8s.io": {"StorageVersion"},
	"lifecycle.k8s.io":          {"Eviction", "EvictionRequest"},
	"node.k8s.io":               {"RuntimeClass"},
	"policy":                    {"PodDisruptionBudget"},
	"resource.k8s.io":           {"ResourcePoolStatusRequest"},
	"scheduling.k8s.io":         {"CompositePodGroup", "PodGroup", "Workload"},
	"storage.k8s.io":            {"CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment"},
	"storagemigration.k8s.io":   {"StorageVersionMigration"},
}

// createdByUpdates are the kinds of Kubernetes, by group, of which an update creates an object that
// is absent.
var createdByUpdates = map[string][]string{
	"":                          {"Endpoints", "Event", "LimitRange", "Service"},
	"coordination.k8s.io":       {"Lease", "LeaseCandidate"},
	"events.k8s.io":             {"Event"},
	"node.k8s.io":               {"RuntimeClass"},
	"rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
}

// generations are the kinds of Kubernetes, by group, whose changes API servers count in the
// generation. Of others, such as Services, it stays what a client has set.
var generations = map[string][]string{
	"": {"Pod", "PodTemplate", "ReplicationController"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apps":                         {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"autoscaling":                  {"HorizontalPodAutoscaler"},
	"batch":                        {"CronJob", "Job"},
	"discovery.k8s.io":             {"EndpointSlice"},
	"extensions":                   {"DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"lifecycle.k8s.io":             {"Eviction", "EvictionRequest"},
	"networking.k8s.io":            {"Ingress", "IngressClass", "NetworkPolicy"},
	"policy":                       {"PodDisruptionBudget"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"storage.k8s.io":               {"CSIDriver"},
}

// firstGeneration reports whether API servers create the objects of a kind with the generation one.
// They count that of CSIDrivers from zero, and that of PriorityClasses no further.
func (c *collection) firstGeneration() bool {
	switch c.kind.GroupKind() {
	case schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIDriver"}:
		return false
	case schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:
		return true
	}
	return c.generation
}

// sameMetadata reports whether two objects have the same of those metadata that count in the
// generation.
func (c *collection) sameMetadata(a, b metav1.Object) bool {
	switch c.kind.GroupKind() {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "extensions", Kind: "Deployment"}:
		return equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations())
	case schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:
		return equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels())
	}
	return true
}

// hasStatus reports whether the objects of a kind of the scheme have a status.
func hasStatus(scheme *runtime.Scheme, kind schema.GroupVersionKind) bool {
	_, has := scheme.AllKnownTypes()[kind].FieldByName("Status")
	return has
}

func (c *catalog) add(s *store.Store, r Resource) error {
	kind := r.kind()
	if other, ok := c.byResource[r.GroupVersionResource]; ok {
		return fmt.Errorf("resource %s is both %s and %s", r.GroupVersionResource, other.kind.Kind, r.Kind)
	}
	if other, ok := c.byKind[kind]; ok {
		return fmt.Errorf("kind %s is both %s and %s", kind, other.resource.Resource, r.GroupVersionResource.Resource)
	}
	added := &collection{
		resource:   r.GroupVersionResource,
		kind:       kind,
		listKind:   kind.GroupVersion().WithKind(r.Kind + "List"),
		singular:   strings.ToLower(r.Kind),
		namespaced: !r.ClusterScoped,
		status:     r.Status,
		custom:     !groupsOfKubernetes()[kind.Group],
		graceful:   kind.Group == "" && kind.Kind == "Pod",
		fields:     r.Fields,
	}
	if servable(c.scheme, kind) {
		added.scheme = c.scheme
		if r.Status && !hasStatus(c.scheme, kind) {
			return fmt.Errorf("resource %s: %s has no status", r.GroupVersionResource, kind)
		}
		list, err := c.scheme.New(added.listKind)
		if err != nil {
			return fmt.Errorf("resource %s: %w", r.GroupVersionResource, err)
		}
		_, added.protobuf = list.(runtime.ProtobufMarshaller)
	} else {
		added.custom = true
	}
	added.generation = added.custom || slices.Contains(generations[kind.Group], kind.Kind)
	added.creates = !added.custom && slices.Contains(createdByUpdates[kind.Group], kind.Kind)
	added.conditional = added.custom || slices.Contains(conditional[kind.Group], kind.Kind)
	if !r.converted() {
		added.table = s.Table()
	} else if err := added.versionOf(c.byResource[schema.GroupVersionResource{
		Group: added.resource.Group, Version: r.StorageVersion, Resource: added.resource.Resource,
	}], r.Convert); err != nil {
		return err
	}
	added.managers = sync.OnceValues(added.newFieldManagers)
	added.addSubresources(r.Scale)
	if r.Type != nil {
		t := reflect.TypeOf(r.Type)
		if other, ok := c.byType[t]; ok {
			return fmt.Errorf("resource %s: %s is the type of %s as well", r.GroupVersionResource, t, other.resource)
		}
		c.byType[t] = added
	}
	c.byResource[added.resource] = added
	c.byKind[added.kind] = added
	return nil
}

// groups returns the served groups in order, each with its versions, the
// preferred one first.
func (c *catalog) groups() ([]string, map[string][]string) {
	versions := map[string][]string{}
	for gvr := range c.byResource {
		if !slices.Contains(versions[gvr.Group], gvr.Version) {
			versions[gvr.Group] = append(versions[gvr.Group], gvr.Version)
		}
	}
	for group := range versions {
		slices.SortFunc(versions[group], func(a, b string) int {
			return version.CompareKubeAwareVersionStrings(b, a)
		})
	}
	return slices.Sorted(maps.Keys(versions)), versions
}

// in returns the collections of a group version, ordered by name.
func (c *catalog) in(gv schema.GroupVersion) []*collection {
	var found []*collection
	for gvr, col := range c.byResource {
		if gvr.GroupVersion() == gv {
			found = append(found, col)
		}
	}
	slices.SortFunc(found, func(a, b *collection) int {
		return strings.Compare(a.resource.Resource, b.resource.Resource)
	})
	return found
}

// sorted returns all collections, ordered by their resources.
func (c *catalog) sorted() []*collection {
	return slices.SortedFunc(maps.Values(c.byResource), func(a, b *collection) int {
		return strings.Compare(a.resource.String(), b.resource.String())
	})
}

// addFields adds field selectors to what the resources have.
func (c *catalog) addFields(added map[schema.GroupVersionResource]map[string]FieldFunc) error {
	for gvr, fields := range added {
		col, ok := c.byResource[gvr]
		if !ok {
			return fmt.Errorf("field selectors for %s, which is not served", gvr)
		}
		all := map[string]FieldFunc{}
		maps.Copy(all, col.fields)
		maps.Copy(all, fields)
		col.fields = all
	}
	return nil
}
