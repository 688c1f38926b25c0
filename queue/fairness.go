package queue

import (
	"github.com/kubetyped/informer/internal/container"
)

// tenants are the owners of keys, if the queue is fair, or else a single one that owns all
// keys.
type tenants[K comparable] struct {
	fair bool
	all  tenant[K] // if the queue is not fair
	by   container.Map[string, tenant[K]]
}

// tenant owns keys, which take turns with those of other tenants.
type tenant[K comparable] struct {
	name  string
	keys  int        // that have an entry
	flows []*flow[K] // no two of the same priority; some may be empty
}

// flow is what waits for one tenant with one priority, in order.
type flow[K comparable] struct {
	priority int
	keys     container.List[entry[K]]
	level    *level[K] // unless it is empty
	node     container.Node[flow[K]]
}

// of returns the tenant of a new entry.
func (t *tenants[K]) of(name string) *tenant[K] {
	of := &t.all
	if t.fair {
		of = t.by.Get(name)
	}
	if of == nil {
		of = &tenant[K]{name: name}
		t.by.Put(name, of)
	}
	of.keys++
	return of
}

// leave notes that an entry of a tenant is gone, and the tenant if that has no other.
func (t *tenants[K]) leave(of *tenant[K]) {
	if of.keys--; of.keys == 0 {
		t.by.Delete(of.name)
	}
}

// flow returns the flow of a priority, which may be empty.
func (t *tenant[K]) flow(priority int) *flow[K] {
	var free *flow[K]
	for _, f := range t.flows {
		if f.priority == priority {
			return f
		}
		if f.keys.First == nil {
			free = f
		}
	}
	if free == nil {
		free = &flow[K]{}
		free.node.Of = free
		t.flows = append(t.flows, free)
	}
	free.priority = priority
	return free
}
