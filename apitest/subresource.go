package apitest

import (
	"net/http"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// handler answers a request. An error of it is the answer.
type handler = func(*Server, http.ResponseWriter, *request) error

// subresource is a URL path below an object's. It stands for a part of the object, or for an action.
type subresource struct {
	name  string
	kind  schema.GroupVersionKind // of what clients send
	verbs map[string]handler
}

// addSubresources adds those that the kind has in Kubernetes, and those that its Resource asks for.
func (c *collection) addSubresources(scale bool) {
	if c.status {
		c.addSubresource("status", c.kind, map[string]handler{
			"get": (*Server).serveGet, "update": (*Server).serveUpdate, "patch": (*Server).servePatch,
		})
	}
	obj := c.newObject()
	if _, ok := obj.(*corev1.Pod); ok && c.stored == nil {
		c.addSubresource("binding", bindingKind, map[string]handler{"create": (*Server).serveBinding})
		c.addSubresource("eviction", evictionKind, map[string]handler{"create": (*Server).serveEviction})
	}
	if _, known := replicasOf(obj); known || scale {
		c.addSubresource("scale", scaleKind, map[string]handler{
			"get": (*Server).serveScale, "update": (*Server).serveUpdateScale, "patch": (*Server).servePatchScale,
		})
	}
}

func (c *collection) addSubresource(name string, kind schema.GroupVersionKind, verbs map[string]handler) {
	c.subresources = append(c.subresources, subresource{name, kind, verbs})
}

var (
	bindingKind  = corev1.SchemeGroupVersion.WithKind("Binding")
	evictionKind = policyv1.SchemeGroupVersion.WithKind("Eviction")
	scaleKind    = autoscalingv1.SchemeGroupVersion.WithKind("Scale")
)

// subresource returns that of a name. It returns nil if there is none.
func (c *collection) subresource(name string) *subresource {
	i := slices.IndexFunc(c.subresources, func(s subresource) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &c.subresources[i]
}
