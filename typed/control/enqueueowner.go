package control

import (
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
)

// Owned is an object that knows its owners.
type Owned interface {
	index.Object

	GetOwnerReferences() []metav1.OwnerReference
}

// EnqueueOwner returns a handler that adds the key of the owner of each object that it is
// notified of to a queue, if it is of the given group and kind, in whatever version. The owner
// is the one that the object's references call its controller, see WithAllOwners; its
// namespace is that of the object, see WithClusterScopedOwner.
//
//	replicaSet := schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
//	pods.Handle(control.EnqueueOwner[*corev1.Pod](q, replicaSet))
//
// When the owner has changed, the old and the new one are added. Priorities and exceptions are
// those of Enqueue.
//
// [typed.Informer.Handle] returns an error if the queue is nil, the kind is empty, or an
// option is nil.
func EnqueueOwner[T Owned](q Adder[index.Key], owner schema.GroupKind, opts ...OwnerOption) typed.Handler[T] {
	h := &enqueueOwner[T]{queue: q, owner: owner}
	for _, opt := range opts {
		if opt == nil {
			h.err = errors.New("option is nil")
		} else {
			opt(&h.ownerConfig)
		}
	}
	return h
}

// OwnerOption sets up EnqueueOwner.
type OwnerOption func(*ownerConfig)

type ownerConfig struct {
	all           bool
	clusterScoped bool
}

// WithAllOwners adds every owner of the kind, not only the controller.
func WithAllOwners() OwnerOption {
	return func(c *ownerConfig) { c.all = true }
}

// WithClusterScopedOwner says that owners have no namespace, although the
// objects do.
func WithClusterScopedOwner() OwnerOption {
	return func(c *ownerConfig) { c.clusterScoped = true }
}

type enqueueOwner[T Owned] struct {
	ownerConfig

	queue Adder[index.Key]
	owner schema.GroupKind
	err   error
}

func (h *enqueueOwner[T]) Describe() (string, error) {
	err := errors.Join(needQueue(h.queue), h.err)
	if h.owner.Kind == "" {
		err = errors.Join(err, errors.New("the kind of the owner is empty"))
	}
	return "enqueue owner", err
}

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (h *enqueueOwner[T]) Needs() []string { return []string{"metadata.ownerReferences"} }

func (h *enqueueOwner[T]) OnAdd(obj T, initial bool) {
	var none T
	h.add(none, obj, forAdd(initial))
}

func (h *enqueueOwner[T]) OnUpdate(old, updated T) { h.add(old, updated, forUpdate(old, updated)) }

func (h *enqueueOwner[T]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released {
		return
	}
	h.add(deleted.Old, deleted.Object, queue.AddOptions{})
}

// add adds the owners of two states of an object, of which the older one may be
// missing or the same.
func (h *enqueueOwner[T]) add(old, obj T, o queue.AddOptions) {
	var none T
	var added keySet[index.Key]
	h.addOwners(&added, obj, o)
	if !index.Same(old, none) && !index.Same(old, obj) {
		h.addOwners(&added, old, o)
	}
}

func (h *enqueueOwner[T]) addOwners(added *keySet[index.Key], obj T, o queue.AddOptions) {
	refs := obj.GetOwnerReferences()
	for i := range refs {
		ref := &refs[i]
		if !h.all && (ref.Controller == nil || !*ref.Controller) || ref.Kind != h.owner.Kind || groupOf(ref.APIVersion) != h.owner.Group {
			continue
		}
		key := index.Key{Namespace: obj.GetNamespace(), Name: ref.Name}
		if h.clusterScoped {
			key.Namespace = ""
		}
		if added.insert(key) {
			h.queue.AddWithOptions(key, o)
		}
	}
}

// groupOf returns the group of an API version, "apps" of "apps/v1" and "" of
// "v1".
func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
