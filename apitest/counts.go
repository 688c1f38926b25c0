package apitest

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counts counts requests. The zero value is ready.
type counts struct {
	mu     sync.Mutex
	counts map[counted]int // guarded by mu
}

type counted struct {
	verb     string
	resource schema.GroupResource
}

func (c *counts) add(verb string, resource schema.GroupResource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[counted]int{}
	}
	c.counts[counted{verb, resource}]++
}

// Requests returns the number of requests so far with the verb (get, list,
// watch, create, update, patch, delete, deletecollection) for the resource,
// refused ones included. Empty stands for any; a resource is named as in Fault.
func (s *Server) Requests(verb, resource string) int {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	n := 0
	for c, times := range s.counts.counts {
		if (verb == "" || verb == c.verb) && matchesResource(resource, c.resource) {
			n += times
		}
	}
	return n
}

// matchesResource reports whether a resource is meant by "" (any), "pods" (of
// any group) or "deployments.apps".
func matchesResource(pattern string, resource schema.GroupResource) bool {
	return pattern == "" || pattern == resource.Resource || pattern == resource.String()
}
