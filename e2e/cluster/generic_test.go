package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// WithGenericServer promises this in addition to the promises of both kinds of API server, which
// TestCluster checks. The last two steps put the server down for a moment.
func TestGenericServer(t *testing.T) {
	ctx := t.Context()
	c, err := Start(ctx, WithGenericServer(), WithProgress(t.Output()), WithAPIServerFlags(
		"--watch-cache-sizes=leases.coordination.k8s.io#0"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Stop()) })

	for format, contentType := range map[string]string{
		"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
	} {
		config := c.Config()
		config.ContentType = contentType
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		// Given a namespace that does not exist, which the server accepts.
		pods := pods{client, format}
		t.Run(format+"/SetsWhatTheRegistrySets", pods.testWrites)
		t.Run(format+"/MarksBeforeItDeletes", pods.testDeletes)
		t.Run(format+"/WatchResumes", pods.testWatch)
		t.Run(format+"/Selectors", pods.testSelectors)
		t.Run(format+"/Informer", pods.testInformer)
	}
	t.Run("Serves", func(t *testing.T) { testGenericServes(t, c) })
	t.Run("ServesWithoutWatchCache", func(t *testing.T) { testGenericUncached(t, c) })
	t.Run("RefusesStrangers", func(t *testing.T) { testGenericRefusesStrangers(t, c) })
	t.Run("KillAndRestartKeepData", func(t *testing.T) { testGenericKeepsData(t, c) })
	t.Run("CompactAndRestartEndOldWatches", func(t *testing.T) { testGenericForgets(t, c) })
}

// pods tests the server on Pods of one namespace.
type pods struct {
	client    kubernetes.Interface
	namespace string
}

func (p pods) create(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	created, err := p.client.CoreV1().Pods(p.namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

func (p pods) names(t *testing.T, options metav1.ListOptions) []string {
	t.Helper()
	list, err := p.client.CoreV1().Pods(p.namespace).List(t.Context(), options)
	require.NoError(t, err)
	names := []string{}
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	return names
}

func (p pods) testWrites(t *testing.T) {
	ctx := t.Context()
	client := p.client.CoreV1().Pods(p.namespace)
	wanted := newPod("")
	wanted.GenerateName = "generated-"
	wanted.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "made up"}

	pod := p.create(t, wanted)
	assert.Regexp(t, "^generated-.+", pod.Name)
	assert.NotEmpty(t, pod.UID)
	assert.NotEmpty(t, pod.ResourceVersion)
	assert.NotEmpty(t, pod.ManagedFields)
	assert.EqualValues(t, 1, pod.Generation)
	assert.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, pod.Status, "a create has no status")

	pod.Spec.NodeName = "node"
	pod.Status.Phase = corev1.PodFailed
	pod, err := client.Update(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, pod.Generation)
	assert.Equal(t, corev1.PodPending, pod.Status.Phase, "an update leaves the status alone")

	pod.Spec.NodeName = "another"
	pod.Status.Phase = corev1.PodRunning
	pod, err = client.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, pod.Generation)
	assert.Equal(t, "node", pod.Spec.NodeName, "an update of the status leaves the spec alone")
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)

	list, err := client.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []corev1.Pod{*pod}, list.Items)
	_, err = client.Create(ctx, newPod("Not_A_Name"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	require.NoError(t, client.Delete(ctx, pod.Name, *metav1.NewDeleteOptions(0)))
	assert.Empty(t, p.names(t, metav1.ListOptions{}))
}

func (p pods) testDeletes(t *testing.T) {
	ctx := t.Context()
	client := p.client.CoreV1().Pods(p.namespace)
	placed := newPod("placed")
	placed.Spec.NodeName = "node"
	placed = p.create(t, placed)
	watcher, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: placed.ResourceVersion})
	require.NoError(t, err)
	defer watcher.Stop()

	require.NoError(t, client.Delete(ctx, "placed", metav1.DeleteOptions{}))
	event := next(t, watcher)
	require.Equal(t, watch.Modified, event.Type)
	marked := event.Object.(*corev1.Pod)
	assert.NotNil(t, marked.DeletionTimestamp)
	assert.EqualValues(t, corev1.DefaultTerminationGracePeriodSeconds, *marked.DeletionGracePeriodSeconds)
	assert.EqualValues(t, 2, marked.Generation)
	left, err := client.Get(ctx, "placed", metav1.GetOptions{})
	require.NoError(t, err, "its node has not stopped it")
	assert.Equal(t, marked, left)
	require.NoError(t, client.Delete(ctx, "placed", *metav1.NewDeleteOptions(0)))
	assert.Equal(t, watch.Modified, next(t, watcher).Type)
	assert.Equal(t, watch.Deleted, next(t, watcher).Type)

	p.create(t, newPod("unplaced"))
	assert.Equal(t, watch.Added, next(t, watcher).Type)
	require.NoError(t, client.Delete(ctx, "unplaced", metav1.DeleteOptions{}))
	assert.Equal(t, watch.Modified, next(t, watcher).Type)
	assert.Equal(t, watch.Deleted, next(t, watcher).Type, "there is nobody to wait for")
}

func (p pods) testWatch(t *testing.T) {
	ctx := t.Context()
	client := p.client.CoreV1().Pods(p.namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	watchFrom := func(version string) watch.Interface {
		watcher, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		require.NoError(t, err)
		t.Cleanup(watcher.Stop)
		return watcher
	}

	first := watchFrom(list.ResourceVersion)
	created := p.create(t, newPod("watched"))
	assert.Equal(t, watch.Event{Type: watch.Added, Object: created}, next(t, first))
	first.Stop()
	changed := created.DeepCopy()
	changed.Labels = map[string]string{"changed": "meanwhile"}
	changed, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.Delete(ctx, created.Name, metav1.DeleteOptions{}))

	resumed := watchFrom(created.ResourceVersion)
	assert.Equal(t, watch.Event{Type: watch.Modified, Object: changed}, next(t, resumed))
	assert.Equal(t, watch.Modified, next(t, resumed).Type, "marked to be deleted")
	gone := next(t, resumed)
	assert.Equal(t, watch.Deleted, gone.Type)
	assert.Equal(t, changed.Labels, gone.Object.(*corev1.Pod).Labels)
}

func (p pods) testSelectors(t *testing.T) {
	placed := newPod("placed")
	placed.Spec.NodeName = "here"
	placed.Labels = map[string]string{"app": "selected"}
	placed = p.create(t, placed)
	p.create(t, newPod("unplaced"))
	placed.Status.Phase = corev1.PodRunning
	_, err := p.client.CoreV1().Pods(p.namespace).UpdateStatus(t.Context(), placed, metav1.UpdateOptions{})
	require.NoError(t, err)

	assert.Equal(t, []string{"placed"}, p.names(t, metav1.ListOptions{LabelSelector: "app=selected"}))
	for _, test := range []struct{ selector, want string }{
		{"metadata.name=unplaced", "unplaced"},
		{"spec.nodeName=here", "placed"},
		{"spec.nodeName=", "unplaced"},
		{"status.phase=Running,metadata.namespace=" + p.namespace, "placed"},
		{"status.phase=Pending", "unplaced"},
	} {
		assert.Equal(t, []string{test.want}, p.names(t, metav1.ListOptions{FieldSelector: test.selector}), test.selector)
	}
	_, err = p.client.CoreV1().Pods(p.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.hostname=h"})
	assert.True(t, apierrors.IsBadRequest(err), "%v", err)
}

func (p pods) testInformer(t *testing.T) {
	before := p.create(t, newPod("before"))
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "here").String()
		}))
	informer := factory.Core().V1().Pods()
	added := make(chan string, 10)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { added <- obj.(*corev1.Pod).Name },
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer stop()
	factory.StartWithContext(ctx)
	require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())

	cached, err := informer.Lister().Pods(p.namespace).Get("before")
	require.NoError(t, err)
	assert.Equal(t, before, cached)
	p.create(t, newPod("after"))
	// With the one that testSelectors left.
	waiting := map[string]bool{"before": true, "unplaced": true, "after": true}
	patience := time.After(10 * time.Second)
	for len(waiting) > 0 {
		select {
		case name := <-added:
			require.Contains(t, waiting, name)
			delete(waiting, name)
		case <-patience:
			require.Empty(t, waiting, "no event")
		}
	}
}

func testGenericServes(t *testing.T, c *Cluster) {
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)

	served := map[string]bool{} // namespaced?
	for _, list := range lists {
		for _, resource := range list.APIResources {
			served[list.GroupVersion+" "+resource.Name] = resource.Namespaced
		}
	}
	assert.Equal(t, map[string]bool{
		"v1 configmaps": true, "v1 events": true, "v1 secrets": true,
		"v1 namespaces": false, "v1 namespaces/status": false,
		"v1 nodes": false, "v1 nodes/status": false,
		"v1 pods": true, "v1 pods/status": true,
		"v1 services": true, "v1 services/status": true,
		"apps/v1 deployments": true, "apps/v1 deployments/status": true,
		"apps/v1 replicasets": true, "apps/v1 replicasets/status": true,
		"apps/v1 controllerrevisions":               true,
		"coordination.k8s.io/v1 leases":             true,
		"rbac.authorization.k8s.io/v1 clusterroles": false,
	}, served)
}

func testGenericUncached(t *testing.T, c *Cluster) {
	ctx := t.Context()
	config := c.Config()
	config.ContentType = runtime.ContentTypeJSON // protobuf has no kind in items
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	leases := client.CoordinationV1().Leases(metav1.NamespaceDefault)
	lease, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lease"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	list, err := leases.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []coordinationv1.Lease{*lease}, list.Items, "the items of a list do not say their kind")
}

func testGenericRefusesStrangers(t *testing.T, c *Cluster) {
	for name, token := range map[string]string{"no token": "", "wrong token": "guessed"} {
		config := rest.CopyConfig(c.Config())
		config.BearerToken = token
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		assert.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
	}
}

func testGenericKeepsData(t *testing.T, c *Cluster) {
	ctx := t.Context()
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)
	deployments := client.AppsV1().Deployments(metav1.NamespaceAll)
	namespace, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	require.NoError(t, err)
	before := pods{client, metav1.NamespaceDefault}.create(t, newPod("kept"))
	list, err := deployments.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	watcher, err := deployments.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer watcher.Stop()

	require.NoError(t, c.Kill())
	_, open := <-watcher.ResultChan()
	assert.False(t, open, "the watch outlived its server")
	require.NoError(t, c.Restart(ctx))

	after, err := client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, "kept", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, before, after)
	again, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, namespace.UID, again.UID, "it is not made twice")
}

func testGenericForgets(t *testing.T, c *Cluster) {
	ctx := t.Context()
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	old, err := maps.Create(ctx, newConfigMap("old"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(ctx, newConfigMap("new"), metav1.CreateOptions{})
	require.NoError(t, err)
	options := metav1.ListOptions{ResourceVersion: old.ResourceVersion}

	_, err = c.Compact(ctx)
	require.NoError(t, err)
	known, err := maps.Watch(ctx, options)
	require.NoError(t, err)
	defer known.Stop()
	assert.Equal(t, watch.Added, next(t, known).Type, "the watch cache has it still")

	require.NoError(t, c.Restart(ctx))
	forgotten, err := maps.Watch(ctx, options)
	require.NoError(t, err)
	defer forgotten.Stop()
	event := next(t, forgotten)
	require.Equal(t, watch.Error, event.Type)
	err = apierrors.FromObject(event.Object)
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
}
