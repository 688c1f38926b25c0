package apitest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// collect deletes or changes an object as the rules want it. It looks at the present state of
// the object and its owners, which may be ahead of the observed one.
func (c *collector) collect(ctx context.Context, n *node) error {
	present, _ := n.collection.table.Get(n.key)
	if present == nil {
		return nil
	}
	m := metadataOf(present.Object)
	switch {
	case m.GetUID() != n.uid:
		return nil
	case n.orphans:
		return c.orphan(ctx, n)
	case n.waits:
		return c.finish(ctx, n)
	case m.GetDeletionTimestamp() != nil || len(m.GetOwnerReferences()) == 0:
		return nil
	}
	owners := c.classify(m)
	switch {
	case len(owners.unclear) > 0, len(owners.there) > 0 && len(owners.lost) == 0:
		return nil
	case len(owners.there) > 0:
		return c.disown(ctx, n, owners.lost...)
	case owners.waiting && len(c.dependents[n.uid]) > 0:
		if slices.ContainsFunc(c.dependents[n.uid], func(d *node) bool { return d.waits }) {
			// It may wait for itself, in a circle.
			if err := c.unblock(ctx, n); err != nil {
				return err
			}
		}
		return c.remove(ctx, n, m.GetResourceVersion(), metav1.DeletePropagationForeground)
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return c.remove(ctx, n, m.GetResourceVersion(), metav1.DeletePropagationOrphan)
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return c.remove(ctx, n, m.GetResourceVersion(), metav1.DeletePropagationForeground)
	default:
		return c.remove(ctx, n, m.GetResourceVersion(), metav1.DeletePropagationBackground)
	}
}

// owners are the owners of an object, by their present state.
type owners struct {
	there   []types.UID
	lost    []types.UID // gone, or about to go as soon as their dependents are gone
	unclear []types.UID // of a kind that is not served
	waiting bool        // some of lost are about to go
}

func (c *collector) classify(m metav1.Object) (found owners) {
	for _, ref := range m.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		served := c.server.catalog.byKind[kind]
		if served == nil || served.namespaced && m.GetNamespace() == "" {
			found.unclear = append(found.unclear, ref.UID)
			continue
		}
		owner, _ := served.table.Get(served.key(m.GetNamespace(), ref.Name))
		if owner == nil || uidOf(owner.Object) != ref.UID {
			found.lost = append(found.lost, ref.UID)
			continue
		}
		if newNode(place{served, ""}, owner.Object).waits {
			found.waiting = true
			found.lost = append(found.lost, ref.UID)
		} else {
			found.there = append(found.there, ref.UID)
		}
	}
	return found
}

// finish removes the finalizer of an object that waits for its dependents, if it has none left
// that it waits for. Those are collected when it is seen to wait, and when they change.
func (c *collector) finish(ctx context.Context, n *node) error {
	if slices.ContainsFunc(c.dependents[n.uid], func(d *node) bool {
		ref := d.owner(n.uid)
		return ref != nil && ptr.Deref(ref.BlockOwnerDeletion, false)
	}) {
		return nil
	}
	return c.change(ctx, n, withoutFinalizer(metav1.FinalizerDeleteDependents))
}

// orphan removes an owner from its dependents, and then its finalizer.
func (c *collector) orphan(ctx context.Context, n *node) error {
	for _, d := range slices.Clone(c.dependents[n.uid]) {
		if err := c.disown(ctx, d, n.uid); err != nil {
			return err
		}
	}
	return c.change(ctx, n, withoutFinalizer(metav1.FinalizerOrphanDependents))
}

func withoutFinalizer(finalizer string) func(metav1.Object) {
	return func(m metav1.Object) {
		m.SetFinalizers(slices.DeleteFunc(m.GetFinalizers(), func(f string) bool { return f == finalizer }))
	}
}

// disown removes owners from an object.
func (c *collector) disown(ctx context.Context, n *node, lost ...types.UID) error {
	return c.change(ctx, n, func(m metav1.Object) {
		m.SetOwnerReferences(slices.DeleteFunc(m.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return slices.Contains(lost, ref.UID)
		}))
	})
}

// unblock makes no owner wait for an object.
func (c *collector) unblock(ctx context.Context, n *node) error {
	return c.change(ctx, n, func(m metav1.Object) {
		refs := m.GetOwnerReferences()
		for i := range refs {
			refs[i].BlockOwnerDeletion = new(false)
		}
		m.SetOwnerReferences(refs)
	})
}

// remove deletes an object, unless that has changed: then it will be observed again.
func (c *collector) remove(ctx context.Context, n *node, version string, policy metav1.DeletionPropagation) error {
	_, err := c.server.remove(ctx, removal{
		collection: n.collection, namespace: n.namespace, name: n.name,
		options: metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &n.uid, ResourceVersion: &version},
			PropagationPolicy: &policy,
		},
	})
	return unlessGone(err)
}

// change changes the metadata of an object, unless that is another one meanwhile.
func (c *collector) change(ctx context.Context, n *node, set func(metav1.Object)) error {
	_, err := c.server.update(ctx, update{
		collection: n.collection, namespace: n.namespace, name: n.name, part: wholePart, seed: true, manager: manager,
		change: func(present runtime.Object) (runtime.Object, error) {
			changed := present.DeepCopyObject()
			m := metadataOf(changed)
			if m.GetUID() != n.uid {
				return nil, apierrors.NewNotFound(n.collection.groupResource(), n.name)
			}
			set(m)
			return changed, nil
		},
	})
	return unlessGone(err)
}

// manager is the field manager of what controllers of the server write.
const manager = "kube-controller-manager"

func unlessGone(err error) error {
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("collect garbage: %w", err)
}
