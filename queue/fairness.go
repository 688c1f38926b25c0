package queue

// tenants are those who have keys, if the queue is fair, or else one who has them all.
type tenants[K comparable] struct {
	fair bool
	all  *tenant[K] // if the queue is not fair
	by   shrinkMap[string, tenant[K]]
}

// tenant has keys of its own, that take turns with those of others.
type tenant[K comparable] struct {
	name  string
	keys  int        // that have an entry
	flows []*flow[K] // no two of the same priority; some may be empty
}

// flow is what waits for one tenant with one priority, in order.
type flow[K comparable] struct {
	priority   int
	keys       list[K]
	level      *level[K] // unless it is empty
	prev, next *flow[K]  // its neighbours there
}

func newTenants[K comparable](fair bool) tenants[K] {
	return tenants[K]{fair: fair, all: &tenant[K]{}}
}

// of returns the tenant of a new entry.
func (t *tenants[K]) of(name string) *tenant[K] {
	if !t.fair {
		return t.all
	}
	of := t.by.get(name)
	if of == nil {
		of = &tenant[K]{name: name}
		t.by.put(name, of)
	}
	of.keys++
	return of
}

// leave notes that an entry of a tenant is gone, and the tenant if that has no other.
func (t *tenants[K]) leave(of *tenant[K]) {
	if !t.fair {
		return
	}
	if of.keys--; of.keys == 0 {
		t.by.delete(of.name)
	}
}

// flow returns the flow of a priority, which may be empty.
func (t *tenant[K]) flow(priority int) *flow[K] {
	var free *flow[K]
	for _, f := range t.flows {
		if f.priority == priority {
			return f
		}
		if f.keys.first == nil {
			free = f
		}
	}
	if free == nil {
		free = &flow[K]{}
		t.flows = append(t.flows, free)
	}
	free.priority = priority
	return free
}

// append puts f, which is in no level, after the flows of l.
func (l *level[K]) append(f *flow[K]) {
	f.prev, f.next = l.last, nil
	if l.last != nil {
		l.last.next = f
	} else {
		l.first = f
	}
	l.last = f
}

// remove takes f out of l.
func (l *level[K]) remove(f *flow[K]) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		l.first = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		l.last = f.prev
	}
	f.prev, f.next = nil, nil
}
