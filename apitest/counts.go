package apitest

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counts counts requests. The zero value is ready.
type counts struct {
	mu     sync.Mutex
	counts map[counted]int // guarded by mu
}

type counted struct {
	verb   string
	target target
}

func (c *counts) add(verb string, of target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[counted]int{}
	}
	c.counts[counted{verb, of}]++
}

// Requests returns the number of requests so far with the verb (get, list,
// watch, create, update, patch, delete, deletecollection) for the resource,
// refused ones included. Empty stands for any; a resource is named as in Fault.
func (s *Server) Requests(verb, resource string) int {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	n := 0
	for c, times := range s.counts.counts {
		if (verb == "" || verb == c.verb) && c.target.matches(resource) {
			n += times
		}
	}
	return n
}

// target is the resource of a request, and the subresource.
type target struct {
	resource    schema.GroupResource
	subresource string
}

func (r *request) target() target { return target{r.collection.groupResource(), r.subresource} }

// matches reports whether a pattern stands for the resource: "" (any), "pods" (of any group),
// "deployments.apps", or one with a subresource, "deployments.apps/scale".
func (t target) matches(pattern string) bool {
	resource, subresource, only := strings.Cut(pattern, "/")
	return (!only || subresource == t.subresource) &&
		(resource == "" || resource == t.resource.Resource || resource == t.resource.String())
}
