package control_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// ref returns a reference to an owner.
func ref(apiVersion, kind, name string, controller bool) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name}
	if controller {
		r.Controller = &controller
	}
	return r
}

func ownedBy(version string, refs ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", ResourceVersion: version, OwnerReferences: refs}}
}

func TestEnqueueOwner(t *testing.T) {
	set := ref("apps/v1", "ReplicaSet", "web", true)
	other := ref("apps/v1", "ReplicaSet", "other", false)
	type owners = []metav1.OwnerReference
	replicaSet := schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	configMap := schema.GroupKind{Kind: "ConfigMap"}
	disabled := set
	disabled.Controller = new(bool)
	for name, test := range map[string]struct {
		owner schema.GroupKind
		opts  []control.OwnerOption
		refs  owners
		want  []string
	}{
		"no owner":          {replicaSet, nil, nil, nil},
		"controller":        {replicaSet, nil, owners{other, set}, []string{"shop/web"}},
		"no controller":     {replicaSet, nil, owners{other}, nil},
		"controller: false": {replicaSet, nil, owners{disabled}, nil},
		"other version":     {replicaSet, nil, owners{ref("apps/v2", "ReplicaSet", "web", true)}, []string{"shop/web"}},
		"other group":       {replicaSet, nil, owners{ref("extensions/v1", "ReplicaSet", "web", true)}, nil},
		"other kind":        {replicaSet, nil, owners{ref("apps/v1", "DaemonSet", "web", true)}, nil},
		"core group":        {configMap, nil, owners{ref("v1", "ConfigMap", "web", true)}, []string{"shop/web"}},
		"not core":          {configMap, nil, owners{ref("x/v1", "ConfigMap", "web", true)}, nil},
		"all":               {replicaSet, []control.OwnerOption{control.WithAllOwners()}, owners{other, set}, []string{"shop/other", "shop/web"}},
		"all, each once":    {replicaSet, []control.OwnerOption{control.WithAllOwners()}, owners{other, other}, []string{"shop/other"}},
		"all of the kind":   {replicaSet, []control.OwnerOption{control.WithAllOwners()}, owners{ref("apps/v1", "DaemonSet", "web", false)}, nil},
		"cluster-scoped":    {configMap, []control.OwnerOption{control.WithClusterScopedOwner()}, owners{ref("v1", "ConfigMap", "web", true)}, []string{"web"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := &adds[index.Key]{}
			control.EnqueueOwner[*corev1.Pod](q, test.owner, test.opts...).OnAdd(ownedBy("1", test.refs...), false)
			assert.Equal(t, test.want, q.next())
		})
	}
}

func TestEnqueueOwnerOnEveryEvent(t *testing.T) {
	q := &adds[index.Key]{}
	h := control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"})
	old, updated := ownedBy("1", ref("apps/v1", "ReplicaSet", "old", true)), ownedBy("2", ref("apps/v1", "ReplicaSet", "new", true))
	orphan := ownedBy("3")

	h.OnAdd(old, true)
	assert.Equal(t, []string{"shop/old low"}, q.next())
	h.OnUpdate(old, updated)
	assert.Equal(t, []string{"shop/new", "shop/old"}, q.next(), "the owner has changed")
	h.OnUpdate(updated, orphan)
	assert.Equal(t, []string{"shop/new"}, q.next(), "it has lost an owner")
	h.OnUpdate(old, ownedBy("2", old.OwnerReferences...))
	assert.Equal(t, []string{"shop/old"}, q.next(), "once")
	h.OnUpdate(old, old)
	assert.Equal(t, []string{"shop/old low"}, q.next(), "a resync")
	h.OnDelete(typed.Deleted[*corev1.Pod]{Object: updated, Old: old})
	assert.Equal(t, []string{"shop/new", "shop/old"}, q.next())
	h.OnDelete(typed.Deleted[*corev1.Pod]{Object: updated, Old: updated})
	assert.Equal(t, []string{"shop/new"}, q.next())
}

func TestEnqueueOwnerOfAClusterScopedObject(t *testing.T) {
	q := &adds[index.Key]{}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", OwnerReferences: []metav1.OwnerReference{ref("v1", "Node", "n1", true)}}}
	control.EnqueueOwner[*corev1.PersistentVolume](q, schema.GroupKind{Kind: "Node"}).OnAdd(volume, false)
	assert.Equal(t, []string{"n1"}, q.next())
}

// silent is a source that reports nothing.
type silent[T index.Object] struct{}

func (silent[T]) Run(ctx context.Context, _ source.Sink[T]) error {
	<-ctx.Done()
	return nil
}

func TestEnqueueOwnerChecksItsArguments(t *testing.T) {
	kind := schema.GroupKind{Kind: "Node"}
	for want, h := range map[string]typed.Handler[*corev1.Pod]{
		"queue is nil":          control.EnqueueOwner[*corev1.Pod](nil, kind),
		"of the owner is empty": control.EnqueueOwner[*corev1.Pod](&adds[index.Key]{}, schema.GroupKind{Group: "apps"}),
		"option is nil":         control.EnqueueOwner[*corev1.Pod](&adds[index.Key]{}, kind, nil),
	} {
		_, err := typed.NewInformer(silent[*corev1.Pod]{}).Handle(h)
		assert.ErrorContains(t, err, want)
	}
}

func TestEnqueueOwnerAllocatesNothing(t *testing.T) {
	q, err := queue.NewWorkQueue[index.Key]()
	assert.NoError(t, err)
	defer q.ShutDown()
	h := control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"})
	old, updated := ownedBy("1", ref("apps/v1", "ReplicaSet", "old", true)), ownedBy("2", ref("apps/v1", "ReplicaSet", "new", true))
	assert.Zero(t, testing.AllocsPerRun(100, func() { h.OnUpdate(old, updated) }))
}
