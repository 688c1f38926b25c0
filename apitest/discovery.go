package apitest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

const aggregatedMediaType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// verbs returns what can be done with the objects. Namespaces are deleted one by one.
func (c *collection) verbs() []string {
	if c.kind.GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
		return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return verb == "deletecollection" })
	}
	return verbs
}

// discover answers what is not about objects: discovery, version and health. It
// returns false for other paths.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) bool {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(segments) == 1 && segments[0] == "version":
		s.text(w, r, runtime.ContentTypeJSON, versionInfo)
	case slices.Contains([]string{"healthz", "livez", "readyz"}, segments[0]):
		s.text(w, r, "text/plain", []byte("ok"))
	case len(segments) == 1 && (segments[0] == "api" || segments[0] == "apis"):
		s.discoverRoot(w, r, segments[0] == "api")
	case len(segments) == 2 && segments[0] == "apis":
		group, ok := s.catalog.group(segments[1])
		if !ok {
			return false
		}
		s.discovery(w, r, &group)
	default:
		p, ok := parsePath(r.URL.Path)
		if !ok || len(p.rest) > 0 {
			return false
		}
		list := s.catalog.resources(p.version)
		if list == nil {
			return false
		}
		s.discovery(w, r, list)
	}
	return true
}

// versionInfo is k8s.io/apimachinery/pkg/version.Info, of the release whose
// behaviour is followed.
var versionInfo = []byte(`{"major":"1","minor":"37","gitVersion":"v1.37.0+apitest","gitCommit":"","gitTreeState":"",` +
	`"buildDate":"1970-01-01T00:00:00Z","goVersion":"","compiler":"gc","platform":""}`)

func (s *Server) discoverRoot(w http.ResponseWriter, r *http.Request, core bool) {
	if wantsAggregated(r.Header.Get("Accept")) {
		s.text(w, r, aggregatedMediaType, must(json.Marshal(s.catalog.aggregated(core))))
		return
	}
	if core {
		_, versions := s.catalog.groups()
		s.discovery(w, r, &metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"},
			Versions: versions[""],
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
				{ClientCIDR: "0.0.0.0/0", ServerAddress: s.host()},
			},
		})
		return
	}
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	names, _ := s.catalog.groups()
	for _, name := range names {
		if group, ok := s.catalog.group(name); ok && name != "" {
			group.TypeMeta = metav1.TypeMeta{}
			list.Groups = append(list.Groups, group)
		}
	}
	s.discovery(w, r, list)
}

func (s *Server) discovery(w http.ResponseWriter, r *http.Request, obj runtime.Object) {
	f, err := wire.Negotiate(r.Header.Get("Accept"), whole)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, r, f, http.StatusOK, obj)
}

func (s *Server) text(w http.ResponseWriter, r *http.Request, contentType string, data []byte) {
	w.Header().Set("Content-Type", contentType)
	if _, err := w.Write(data); err != nil {
		klog.FromContext(r.Context()).V(2).Info("Cannot write a response", "uri", r.URL.RequestURI(), "err", err)
	}
}

func wantsAggregated(accept string) bool {
	return slices.ContainsFunc(goautoneg.ParseAccept(accept), func(c goautoneg.Accept) bool {
		return c.SubType == "json" && c.Params["as"] == "APIGroupDiscoveryList" && c.Params["v"] == "v2"
	})
}

// group describes an API group; false when none of it is served.
func (c *catalog) group(name string) (metav1.APIGroup, bool) {
	_, versions := c.groups()
	if name == "" || len(versions[name]) == 0 {
		return metav1.APIGroup{}, false
	}
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: name}
	for _, v := range versions[name] {
		gv := schema.GroupVersion{Group: name, Version: v}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v})
	}
	group.PreferredVersion = group.Versions[0]
	return group, true
}

// resources describes the resources of a group version; nil when there are none.
func (c *catalog) resources(gv schema.GroupVersion) *metav1.APIResourceList {
	found := c.in(gv)
	if len(found) == 0 {
		return nil
	}
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	for _, col := range found {
		resource := metav1.APIResource{
			Name: col.resource.Resource, SingularName: col.singular, Kind: col.kind.Kind,
			Namespaced: col.namespaced, Verbs: col.verbs(),
		}
		list.APIResources = append(list.APIResources, resource)
		for _, part := range col.subresources {
			described := metav1.APIResource{
				Name: resource.Name + "/" + part.name, Kind: part.kind.Kind, Namespaced: col.namespaced,
				Verbs: slices.Sorted(maps.Keys(part.verbs)),
			}
			if part.kind.GroupVersion() != gv {
				described.Group, described.Version = part.kind.Group, part.kind.Version
			}
			list.APIResources = append(list.APIResources, described)
		}
	}
	return list
}

// aggregated describes the core group, or all others, in one list.
func (c *catalog) aggregated(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	names, versions := c.groups()
	for _, name := range names {
		if core != (name == "") {
			continue
		}
		group := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, v := range versions[name] {
			described := apidiscoveryv2.APIVersionDiscovery{Version: v, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
			for _, col := range c.in(schema.GroupVersion{Group: name, Version: v}) {
				described.Resources = append(described.Resources, col.discovery())
			}
			group.Versions = append(group.Versions, described)
		}
		list.Items = append(list.Items, group)
	}
	return list
}

func (c *collection) discovery() apidiscoveryv2.APIResourceDiscovery {
	kind := &metav1.GroupVersionKind{Group: c.kind.Group, Version: c.kind.Version, Kind: c.kind.Kind}
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: c.resource.Resource, SingularResource: c.singular, ResponseKind: kind,
		Scope: apidiscoveryv2.ScopeCluster, Verbs: c.verbs(),
	}
	if c.namespaced {
		d.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, part := range c.subresources {
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  part.name,
			ResponseKind: &metav1.GroupVersionKind{Group: part.kind.Group, Version: part.kind.Version, Kind: part.kind.Kind},
			Verbs:        slices.Sorted(maps.Keys(part.verbs)),
		})
	}
	return d
}
