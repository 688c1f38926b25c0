package ctrlruntime_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The tests are programs as they are written for controller-runtime. They run on its
// own pieces, too.

const ownerField = ".metadata.controller"

// replicas sees to it that each ConfigMap has as many Pods as it asks for.
type replicas struct {
	client.Client
	seen func(cm *corev1.ConfigMap) // receives each object that Reconcile reads
}

func (r *replicas) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r.seen(&cm)
	want, err := strconv.Atoi(cm.Data["replicas"])
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(req.Namespace), client.MatchingFields{ownerField: req.Name}); err != nil {
		return reconcile.Result{}, err
	}
	for i := range want {
		if err := r.createPod(ctx, &cm, i); client.IgnoreAlreadyExists(err) != nil {
			return reconcile.Result{}, err
		}
	}
	for i := range pods.Items {
		if n, _ := strconv.Atoi(pods.Items[i].Labels["number"]); n >= want {
			if err := r.Delete(ctx, &pods.Items[i]); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
		}
	}
	return reconcile.Result{}, nil
}

// createPod creates a Pod unless the cache has it.
func (r *replicas) createPod(ctx context.Context, cm *corev1.ConfigMap, number int) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cm.Namespace,
		Name:      fmt.Sprintf("%s-%d", cm.Name, number),
		Labels:    map[string]string{"number": strconv.Itoa(number)},
	}}
	if err := r.Get(ctx, client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		return err
	}
	if err := controllerutil.SetControllerReference(cm, pod, r.Scheme()); err != nil {
		return err
	}
	return r.Create(ctx, pod)
}

// controllerName returns what the field has.
func controllerName(obj client.Object) []string {
	if owner := metav1.GetControllerOfNoCopy(obj); owner != nil {
		return []string{owner.Name}
	}
	return nil
}

// runReplicas adds the controller to the manager and starts it.
func (r *rig) runReplicas(t *testing.T, seen func(cm *corev1.ConfigMap)) (stop func()) {
	require.NoError(t, r.mgr.GetFieldIndexer().IndexField(r.ctx, &corev1.Pod{}, ownerField, controllerName))
	require.NoError(t, ctrl.NewControllerManagedBy(r.mgr).
		For(&corev1.ConfigMap{}).
		Owns(&corev1.Pod{}).
		WithOptions(r.options(t)).
		Complete(&replicas{Client: r.mgr.GetClient(), seen: seen}))
	return r.start(t)
}

func configMap(namespace, name string, replicas int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"large": "and useless"}},
		Data:       map[string]string{"replicas": strconv.Itoa(replicas)},
	}
}

func number(n int) func(pods map[string]*corev1.Pod) bool {
	return func(pods map[string]*corev1.Pod) bool { return len(pods) == n }
}

func TestManagerReconciles(t *testing.T) {
	onEachBuild(t, cache.Options{}, func(t *testing.T, r *rig) {
		require.NoError(t, r.server.Create(r.ctx, configMap("one", "a", 3), configMap("two", "b", 2)))
		stop := r.runReplicas(t, func(*corev1.ConfigMap) {})
		r.awaitPods(t, "one", number(3))
		r.awaitPods(t, "two", number(2))

		require.NoError(t, r.client.Update(r.ctx, configMap("one", "a", 1)))
		pods := r.awaitPods(t, "one", number(1))

		require.NoError(t, r.client.Delete(r.ctx, pods["a-0"]))
		r.awaitPods(t, "one", func(now map[string]*corev1.Pod) bool {
			return len(now) == 1 && now["a-0"] != nil && now["a-0"].UID != pods["a-0"].UID
		})

		require.NoError(t, r.client.Create(r.ctx, configMap("three", "c", 1)))
		r.awaitPods(t, "three", number(1))
		stop()
	})
}

func TestManagerReadsFromItsCache(t *testing.T) {
	onEachBuild(t, cache.Options{}, func(t *testing.T, r *rig) {
		require.NoError(t, r.server.Create(r.ctx, configMap("one", "a", 3), configMap("one", "b", 2)))
		r.runReplicas(t, func(*corev1.ConfigMap) {})
		r.awaitPods(t, "one", number(5))
		r.awaitCached(t, &corev1.Pod{}, 5)
		c := r.mgr.GetClient()

		var pods corev1.PodList
		require.NoError(t, c.List(r.ctx, &pods, client.MatchingFields{ownerField: "b"}))
		require.Len(t, pods.Items, 2)
		assert.Equal(t, "b", pods.Items[0].OwnerReferences[0].Name)
		require.NoError(t, c.List(r.ctx, &pods, client.InNamespace("one"), client.MatchingLabels{"number": "1"}))
		assert.Len(t, pods.Items, 2)
		require.NoError(t, c.List(r.ctx, &pods, client.InNamespace("none")))
		assert.Empty(t, pods.Items)
		require.NoError(t, c.List(r.ctx, &pods, client.Limit(4)))
		assert.Len(t, pods.Items, 4)
		require.Error(t, c.List(r.ctx, &pods, client.MatchingFields{"spec.other": "x"}))

		var pod corev1.Pod
		require.NoError(t, c.Get(r.ctx, client.ObjectKey{Namespace: "one", Name: "a-0"}, &pod))
		pod.Labels["number"] = "modified" // it is a copy
		require.NoError(t, c.Get(r.ctx, client.ObjectKey{Namespace: "one", Name: "a-0"}, &pod))
		assert.Equal(t, "0", pod.Labels["number"])
		assert.True(t, apierrors.IsNotFound(c.Get(r.ctx, client.ObjectKey{Namespace: "one", Name: "x"}, &pod)))

		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		require.NoError(t, c.List(r.ctx, metadata, client.InNamespace("one")))
		assert.Len(t, metadata.Items, 5)
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		require.NoError(t, r.mgr.GetCache().Get(r.ctx, client.ObjectKey{Namespace: "one", Name: "a"}, object))
		assert.Equal(t, "3", object.Object["data"].(map[string]any)["replicas"])
	})
}

func TestManagerWithNamespaces(t *testing.T) {
	o := cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}
	onEachBuild(t, o, func(t *testing.T, r *rig) {
		require.NoError(t, r.server.Create(r.ctx, configMap("zero", "a", 3), configMap("one", "a", 1), configMap("two", "b", 2)))
		r.runReplicas(t, func(cm *corev1.ConfigMap) { assert.NotEqual(t, "zero", cm.Namespace) })
		r.awaitPods(t, "one", number(1))
		r.awaitPods(t, "two", number(2))
		r.awaitPods(t, "zero", number(0))
		require.Error(t, r.mgr.GetClient().Get(r.ctx, client.ObjectKey{Namespace: "zero", Name: "a"}, &corev1.ConfigMap{}))
	})
}

func TestManagerTransforms(t *testing.T) {
	o := cache.Options{DefaultTransform: func(obj any) (any, error) {
		obj.(client.Object).SetAnnotations(map[string]string{"transformed": "yes"})
		return obj, nil
	}}
	onEachBuild(t, o, func(t *testing.T, r *rig) {
		require.NoError(t, r.server.Create(r.ctx, configMap("one", "a", 1)))
		r.runReplicas(t, func(cm *corev1.ConfigMap) {
			assert.Equal(t, map[string]string{"transformed": "yes"}, cm.Annotations)
		})
		r.awaitPods(t, "one", number(1))
		require.NoError(t, r.client.Create(r.ctx, configMap("one", "b", 1)))
		r.awaitPods(t, "one", number(2))
	})
}
