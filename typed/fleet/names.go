package fleet

import "iter"

// names is which objects of a cluster there are, by namespace. The zero names is empty.
type names struct {
	in map[string]map[string]struct{}
	n  int
}

func (n *names) add(namespace, name string) {
	space := n.in[namespace]
	if space == nil {
		if n.in == nil {
			n.in = map[string]map[string]struct{}{}
		}
		space = map[string]struct{}{}
		n.in[namespace] = space
	}
	before := len(space)
	space[name] = struct{}{}
	n.n += len(space) - before
}

// remove takes a name out, and reports whether it was the last one of its namespace.
func (n *names) remove(namespace, name string) (last bool) {
	space := n.in[namespace]
	before := len(space)
	delete(space, name)
	n.n -= before - len(space)
	if before == 0 || len(space) > 0 {
		return false
	}
	delete(n.in, namespace)
	return true
}

// removeNamespace takes all names of a namespace out.
func (n *names) removeNamespace(namespace string) {
	n.n -= len(n.in[namespace])
	delete(n.in, namespace)
}

func (n *names) has(namespace, name string) bool {
	_, ok := n.in[namespace][name]
	return ok
}

// all ranges over namespaces and names.
func (n *names) all() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for namespace, space := range n.in {
			for name := range space {
				if !yield(namespace, name) {
					return
				}
			}
		}
	}
}
