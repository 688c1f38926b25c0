package apitest

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// collector is a garbage collector, by the rules of Kubernetes': it deletes objects that have
// no owner any more, before the owner if a delete asks for that, and removes the owner from
// objects that are to be kept. It belongs to the goroutine of the controllers.
type collector struct {
	server     *Server
	nodes      map[types.UID]*node
	dependents map[types.UID][]*node // by the owner's UID, in the order in which they were seen
	failed     []*node               // in the order in which they failed
}

// node is what the collector knows of an object.
type node struct {
	place
	uid       types.UID
	namespace string
	name      string
	owners    []metav1.OwnerReference
	waits     bool // it is deleted, and waits for its dependents
	orphans   bool // it is deleted, and its dependents are to be kept
}

func newCollector(s *Server) *collector {
	return &collector{server: s, nodes: map[types.UID]*node{}, dependents: map[types.UID][]*node{}}
}

func newNode(at place, obj runtime.Object) *node {
	m := metadataOf(obj)
	deleted := m.GetDeletionTimestamp() != nil
	return &node{
		place: at, uid: m.GetUID(), namespace: m.GetNamespace(), name: m.GetName(), owners: m.GetOwnerReferences(),
		waits:   deleted && slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents),
		orphans: deleted && slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents),
	}
}

// observe implements controller.
func (c *collector) observe(ctx context.Context, w written) {
	if withoutDependents[w.collection.kind.GroupKind()] {
		return
	}
	if w.now == nil {
		if before := c.nodes[uidOf(w.before)]; before != nil {
			c.forget(ctx, before)
		}
		return
	}
	n := newNode(w.place, w.now)
	before := c.nodes[n.uid]
	c.keep(before, n)
	c.act(ctx, n)
	if n.waits && (before == nil || !before.waits) {
		for _, d := range slices.Clone(c.dependents[n.uid]) {
			c.act(ctx, d)
		}
	}
	if before != nil {
		c.release(ctx, before)
	}
}

// keep replaces what is known of an object.
func (c *collector) keep(before, n *node) {
	c.nodes[n.uid] = n
	if before != nil {
		for _, ref := range before.owners {
			if i := slices.Index(c.dependents[ref.UID], before); i >= 0 && n.owner(ref.UID) != nil {
				c.dependents[ref.UID][i] = n
			} else if i >= 0 {
				c.unlink(ref.UID, i)
			}
		}
	}
	for _, ref := range n.owners {
		if !slices.Contains(c.dependents[ref.UID], n) {
			c.dependents[ref.UID] = append(c.dependents[ref.UID], n)
		}
	}
}

// unlink takes the dependent at an index from an owner.
func (c *collector) unlink(owner types.UID, i int) {
	if c.dependents[owner] = slices.Delete(c.dependents[owner], i, i+1); len(c.dependents[owner]) == 0 {
		delete(c.dependents, owner)
	}
}

// forget is for an object that is gone: its dependents have lost it, and its owners
// may have waited for it.
func (c *collector) forget(ctx context.Context, n *node) {
	delete(c.nodes, n.uid)
	for _, ref := range n.owners {
		if i := slices.Index(c.dependents[ref.UID], n); i >= 0 {
			c.unlink(ref.UID, i)
		}
	}
	for _, d := range slices.Clone(c.dependents[n.uid]) {
		c.act(ctx, d)
	}
	c.release(ctx, n)
}

// release checks the owners again that may have waited for a dependent as it was.
func (c *collector) release(ctx context.Context, before *node) {
	for _, ref := range before.owners {
		if owner := c.nodes[ref.UID]; owner != nil && owner.waits {
			c.act(ctx, owner)
		}
	}
}

// act collects an object; if that fails, once more later.
func (c *collector) act(ctx context.Context, n *node) {
	if err := c.collect(ctx, n); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).V(2).Info("Cannot collect", "resource", n.collection.groupResource(), "key", n.key, "err", err)
		if !slices.Contains(c.failed, n) {
			c.failed = append(c.failed, n)
		}
	}
}

// retry implements controller.
func (c *collector) retry(ctx context.Context) bool {
	failed := c.failed
	c.failed = nil
	for _, n := range failed {
		if c.nodes[n.uid] == n {
			c.act(ctx, n)
		}
	}
	return len(c.failed) > 0
}

// owner returns the reference to an owner, nil if there is none.
func (n *node) owner(uid types.UID) *metav1.OwnerReference {
	i := slices.IndexFunc(n.owners, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
	if i < 0 {
		return nil
	}
	return &n.owners[i]
}
