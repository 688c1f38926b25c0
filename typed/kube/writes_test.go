package kube_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// A test of this file writes with real clients to a server whose watches bring nothing, and
// reads at once.

// writing is a server, whose watches lag until Catch is called, and its clients.
type writing struct {
	t      *testing.T
	ctx    context.Context
	srv    *apitest.Server
	writes *kube.Writes
	config *rest.Config
	client kubernetes.Interface
	lag    *apitest.Injection
	lines  func() []string // that pods has logged
}

func newWriting(t *testing.T, contentType string, opts ...apitest.Option) *writing {
	w := &writing{t: t, srv: apitest.Start(t, opts...), writes: kube.NewWrites()}
	config := w.srv.Config()
	config.ContentType, config.QPS = contentType, -1
	w.config = w.writes.Config(config)
	var err error
	w.client, err = kubernetes.NewForConfig(w.config)
	require.NoError(t, err)
	return w
}

// follow runs an informer, and lets the watch lag when it has synced.
func follow[T index.Object](w *writing, src source.Source[T], opts ...typed.Option) *typed.Informer[T] {
	informer := typed.NewInformer(src, opts...)
	w.ctx = rig.Start(w.t, informer)
	require.NoError(w.t, informer.WaitForSync(w.ctx))
	w.hold()
	return informer
}

func (w *writing) hold() { w.lag = w.srv.Inject(apitest.Fault{Lag: true}) }

// pods returns an informer of all Pods, and the history of the calls of a handler.
func (w *writing) pods() (*typed.Informer[*corev1.Pod], *history.History[*corev1.Pod]) {
	pods := typed.NewInformer(kube.FromClient(w.client.CoreV1().Pods(""), kube.WithWrites(w.writes)))
	told := history.New[*corev1.Pod]()
	told.OwnWrites = true
	_, err := pods.Handle(told)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, told.Err()) })
	ctx, lines := rig.Lines()
	w.lines = lines
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(w.t, pods.Run(ctx)) })
	w.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	w.ctx = ctx
	require.NoError(w.t, pods.WaitForSync(w.ctx))
	w.hold()
	return pods, told
}

// catchUp lets the watch bring everything, and compares with the server.
func (w *writing) catchUp(pods *typed.Informer[*corev1.Pod]) {
	w.lag.Remove()
	list, err := w.client.CoreV1().Pods("").List(w.ctx, metav1.ListOptions{})
	require.NoError(w.t, err)
	last, err := w.client.CoreV1().Pods("end").Create(w.ctx, podNamed("end", "end"), metav1.CreateOptions{})
	require.NoError(w.t, err)
	require.NoError(w.t, pods.WaitForResourceVersion(w.ctx, last.ResourceVersion))
	assert.Equal(w.t, len(list.Items)+1, pods.Len())
	assert.Zero(w.t, pods.Status().Ahead)
	for i := range list.Items {
		got, ok := pods.Get(index.KeyOf(&list.Items[i]))
		require.True(w.t, ok)
		assert.Equal(w.t, list.Items[i].ResourceVersion, got.ResourceVersion)
	}
}

func podNamed(namespace, name string) *corev1.Pod {
	pod := rig.NewPod(name, "")
	pod.Namespace = namespace
	return pod
}

// TestOwnWritesOfEachKind: what a write was answered is read at once, and is what the watch
// brings later, for which there is no event.
func TestOwnWritesOfEachKind(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, contentType)
			pods, told := w.pods()
			api := w.client.CoreV1().Pods("default")
			has := func(want *corev1.Pod, err error) *corev1.Pod {
				t.Helper()
				require.NoError(t, err)
				got, ok := pods.Get(index.KeyOf(want))
				require.True(t, ok)
				assert.Equal(t, want, got)
				assert.NotSame(t, want, got)
				return want.DeepCopy()
			}
			held := rig.NewPod("a", "")
			held.Finalizers = []string{"example.com/hold"}
			pod := has(api.Create(w.ctx, held, metav1.CreateOptions{}))
			pod.Labels = map[string]string{"by": "update"}
			pod = has(api.Update(w.ctx, pod, metav1.UpdateOptions{}))
			pod.Status.Phase = corev1.PodRunning
			pod = has(api.UpdateStatus(w.ctx, pod, metav1.UpdateOptions{}))
			has(api.Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"patch"}}}`), metav1.PatchOptions{}))
			apply := applycorev1.Pod("a", "default").WithLabels(map[string]string{"applied": "yes"})
			last := has(api.Apply(w.ctx, apply, metav1.ApplyOptions{FieldManager: "test", Force: true}))

			require.NoError(t, api.Delete(w.ctx, "a", metav1.DeleteOptions{}))
			marked, ok := pods.Get(index.KeyOf(pod))
			require.True(t, ok)
			assert.NotNil(t, marked.DeletionTimestamp, "a finalizer holds it")
			assert.Greater(t, marked.ResourceVersion, last.ResourceVersion)
			_, err := api.Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			_, ok = pods.Get(index.KeyOf(pod))
			assert.False(t, ok, "the last finalizer is gone")

			again := has(api.Create(w.ctx, rig.NewPod("a", ""), metav1.CreateOptions{}))
			assert.NotEqual(t, pod.UID, again.UID)
			require.NoError(t, api.Delete(w.ctx, "a", metav1.DeleteOptions{}))
			assert.Zero(t, pods.Len())

			graceful := has(api.Create(w.ctx, rig.NewPod("b", "node-1"), metav1.CreateOptions{}))
			require.NoError(t, api.Delete(w.ctx, "b", metav1.DeleteOptions{}))
			marked, ok = pods.Get(index.KeyOf(graceful))
			require.True(t, ok, "it has a grace period")
			assert.NotNil(t, marked.DeletionTimestamp)
			now := int64(0)
			require.NoError(t, api.Delete(w.ctx, "b", metav1.DeleteOptions{GracePeriodSeconds: &now}))
			assert.Zero(t, pods.Len())

			kept := has(api.Create(w.ctx, rig.NewPod("c", ""), metav1.CreateOptions{}))
			assert.Equal(t, report.Ahead{Keys: 3, ResourceVersion: kept.ResourceVersion}, pods.Status().Ahead)
			assert.Less(t, pods.ResourceVersion(), kept.ResourceVersion)

			assert.Empty(t, w.writes.Status().LeftOut)
			assert.EqualValues(t, 13, w.writes.Status().Taken)
			w.catchUp(pods)
			delivered := func() int {
				events, _ := told.Events()
				return events
			}
			require.Eventually(t, func() bool { return delivered() >= 14 }, time.Minute, time.Millisecond, "one for each state, and the last Pod")
			assert.Equal(t, 14, delivered())
		})
	}
}

// TestLastingReasonsAreLogged: once for each resource, and not those that are of one write alone.
func TestLastingReasonsAreLogged(t *testing.T) {
	t.Parallel()
	w := newWriting(t, "")
	pods, _ := w.pods()
	meta, err := metadata.NewForConfig(w.config)
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		_, err := w.client.CoreV1().Pods("default").Create(w.ctx, rig.NewPod(name, ""), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = meta.Resource(podResource).Namespace("default").Patch(w.ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		_, err = w.client.CoreV1().Pods("default").Create(w.ctx, rig.NewPod(name, ""), metav1.CreateOptions{})
		require.Error(t, err)
	}
	logged := w.lines()
	require.Len(t, logged, 1)
	for _, part := range []string{"Answers to own writes are not taken; reads have them when the watch brings them", `resource="pods"`, `reason="form"`} {
		assert.Contains(t, logged[0], part)
	}
	assert.Equal(t, map[string]uint64{"form": 2, "failed": 2}, w.writes.Status().LeftOut)
	w.catchUp(pods)
}

// TestOwnWritesOutsideTheTable are left to the watch.
func TestOwnWritesOutsideTheTable(t *testing.T) {
	t.Parallel()
	w := newWriting(t, "", apitest.WithObjects(rig.NewPod("a", ""), rig.NewPod("b", "")))
	pods, _ := w.pods()
	api := w.client.CoreV1().Pods("default")
	before := pods.List()
	dry := []string{metav1.DryRunAll}
	_, err := api.Create(w.ctx, rig.NewPod("c", ""), metav1.CreateOptions{DryRun: dry})
	require.NoError(t, err)
	require.NoError(t, api.Delete(w.ctx, "a", metav1.DeleteOptions{DryRun: dry}))
	_, err = api.Create(w.ctx, rig.NewPod("a", ""), metav1.CreateOptions{})
	require.Error(t, err)
	meta, err := metadata.NewForConfig(w.config)
	require.NoError(t, err)
	_, err = meta.Resource(podResource).Namespace("default").Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, api.DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=such"}))
	assert.Equal(t, before, pods.List())
	assert.Equal(t, map[string]uint64{"dry run": 2, "failed": 1, "form": 1, "collection": 1}, w.writes.Status().LeftOut)
	assert.Zero(t, w.writes.Status().Taken)
	w.catchUp(pods)
}

// TestOwnWritesOfDynamicClients: whatever client writes, whatever type an informer has.
func TestOwnWritesOfDynamicClients(t *testing.T) {
	t.Parallel()
	w := newWriting(t, "")
	dyn, err := dynamic.NewForConfig(w.config)
	require.NoError(t, err)
	opts := []kube.SourceOption{kube.WithResource(podResource), kube.WithWrites(w.writes)}
	untyped := follow(w, kube.FromREST[*unstructured.Unstructured](w.config, opts...))
	w.lag.Remove()
	meta := follow(w, kube.FromREST[*metav1.PartialObjectMetadata](w.config, opts...))
	w.lag.Remove()
	slim := follow(w, kube.FromREST[*slimPod](w.config, opts...))
	w.lag.Remove()
	projected := follow(w, source.Map(kube.FromREST[*corev1.Pod](w.config, kube.WithWrites(w.writes)), func(p *corev1.Pod) *slimPod {
		slim := &slimPod{}
		slim.Metadata.Namespace, slim.Metadata.Name, slim.Spec.NodeName = p.Namespace, p.Name, p.Spec.NodeName
		return slim
	}))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(rig.NewPod("a", "node-7"))
	require.NoError(t, err)
	pod := &unstructured.Unstructured{Object: content}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	made, err := dyn.Resource(podResource).Namespace("default").Create(w.ctx, pod, metav1.CreateOptions{})
	require.NoError(t, err)
	key := index.KeyOf(made)
	got, ok := untyped.Get(key)
	require.True(t, ok)
	assert.Equal(t, made, got)
	m, ok := meta.Get(key)
	require.True(t, ok)
	assert.Equal(t, made.GetUID(), m.UID)
	s, ok := slim.Get(key)
	require.True(t, ok)
	assert.Equal(t, "node-7", s.Spec.NodeName)
	p, ok := projected.Get(key)
	require.True(t, ok)
	assert.Equal(t, "node-7", p.Spec.NodeName)

	now := int64(0)
	require.NoError(t, dyn.Resource(podResource).Namespace("default").Delete(w.ctx, "a", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	assert.Equal(t, []int{0, 0}, []int{untyped.Len(), meta.Len()})
	assert.Equal(t, []int{1, 1}, []int{projected.Len(), slim.Len()}, "what does not tell its UID waits for the watch")
	w.lag.Remove()
	for range projected.Events(w.ctx).All() {
		if projected.Len() == 0 {
			break
		}
	}
}

// TestOwnWritesHaveTheirKind: a struct with fields for the kind has it in an answer, whatever the
// format, as in an event of the watch.
func TestOwnWritesHaveTheirKind(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		w := newWriting(t, contentType)
		pods := mirrored(t, kube.FromREST[*podOfKind](w.config, kube.WithResource(podResource), kube.WithWrites(w.writes)))
		pods.waitForSync(t)
		w.hold()
		made, err := w.client.CoreV1().Pods("default").Create(t.Context(), rig.NewPod("a", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		pod := pods.get(t, index.KeyOf(made)).(*podOfKind)
		assert.Equal(t, []string{"v1", "Pod"}, []string{pod.APIVersion, pod.Kind}, contentType)
	}
}

// TestOwnWritesAndSelectors: an object goes at once if a write takes it out of the selection.
func TestOwnWritesAndSelectors(t *testing.T) {
	t.Parallel()
	w := newWriting(t, "")
	selector, err := labels.Parse("app=shop")
	require.NoError(t, err)
	pods := follow(w, kube.FromClient(w.client.CoreV1().Pods("shop"), kube.WithLabelSelector(selector), kube.WithWrites(w.writes)))
	var reasons []string
	var mu sync.Mutex
	_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{DeleteFunc: func(d typed.Deleted[*corev1.Pod]) {
		mu.Lock()
		defer mu.Unlock()
		reasons = append(reasons, d.Reason.String())
	}})
	require.NoError(t, err)
	web := podNamed("shop", "web")
	web.Labels = map[string]string{"app": "shop"}
	api := w.client.CoreV1().Pods("shop")
	_, err = api.Create(w.ctx, web, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = api.Create(w.ctx, podNamed("shop", "other"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = w.client.CoreV1().Pods("default").Create(w.ctx, podNamed("default", "web"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, pods.Len())
	_, err = api.Patch(w.ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"db"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Zero(t, pods.Len())
	w.lag.Remove()
	end := podNamed("shop", "end")
	end.Labels = web.Labels
	last, err := api.Create(w.ctx, end, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.WaitForResourceVersion(w.ctx, last.ResourceVersion))
	assert.Equal(t, 1, pods.Len())
	assert.EventuallyWithT(t, func(c *assert.CollectT) {
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(c, []string{"OutOfScope"}, reasons)
	}, 10*time.Second, time.Millisecond, "the handler is called later than reads find it")
}

// TestOwnWritesOfManyWorkers: 16 workers write while watches lag, are cut and objects are
// listed, and modify what they were answered. Reads never go back.
func TestOwnWritesOfManyWorkers(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) { // no write is late because the machine is busy
		w := newWriting(t, runtime.ContentTypeProtobuf)
		pods, _ := w.pods()
		var working sync.WaitGroup
		for n := range 16 {
			working.Go(func() {
				namespace := fmt.Sprint("ns-", n%2)
				api := w.client.CoreV1().Pods(namespace)
				name := fmt.Sprint("pod-", n)
				for i := range 12 {
					pod, err := api.Create(w.ctx, podNamed(namespace, name), metav1.CreateOptions{})
					if !assert.NoError(t, err) {
						return
					}
					for range 3 {
						got, ok := pods.Get(index.KeyOf(pod))
						if !assert.True(t, ok) || !assert.Equal(t, pod.ResourceVersion, got.ResourceVersion) {
							return
						}
						pod.Labels = map[string]string{"i": fmt.Sprint(i)}
						if pod, err = api.Update(w.ctx, pod, metav1.UpdateOptions{}); !assert.NoError(t, err) {
							return
						}
					}
					pod.Labels["mine"] = "yes"
					if !assert.NoError(t, api.Delete(w.ctx, name, metav1.DeleteOptions{})) {
						return
					}
					_, ok := pods.Get(index.KeyOf(pod))
					assert.False(t, ok)
				}
			})
		}
		for range 10 {
			w.lag.Remove()
			w.srv.Inject(apitest.Fault{Verb: "watch", Open: true, Times: 1, End: apitest.Abrupt}).Remove()
			w.hold()
		}
		working.Wait()
		w.catchUp(pods)
		status := w.writes.Status()
		assert.Zero(t, status.Late)
		assert.Empty(t, status.LeftOut)
	})
}

// TestWritesOfAnotherClient: a source that is made with another configuration, or a fake
// client, is an error, and so are requests of a second server's.
func TestWritesOfAnotherClient(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	writes := kube.NewWrites()
	_, err := kubernetes.NewForConfig(writes.Config(srv.Config()))
	require.NoError(t, err)
	others, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	for name, src := range map[string]source.Source[*corev1.Pod]{
		"client": kube.FromClient(others.CoreV1().Pods(""), kube.WithWrites(writes)),
		"REST":   kube.FromREST[*corev1.Pod](srv.Config(), kube.WithWrites(writes)),
		"fake":   kube.FromClient(fake.NewClientset().CoreV1().Pods(""), kube.WithWrites(writes)),
	} {
		pods := typed.NewInformer(src)
		assert.ErrorContains(t, pods.Run(t.Context()), "the first list was made by a client of another configuration", name)
		assert.Zero(t, pods.Len())
	}
	second := apitest.Start(t)
	client, err := kubernetes.NewForConfig(writes.Config(second.Config()))
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "make one for each server")
	client, err = kubernetes.NewForConfig(writes.Config(nil))
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "configuration is nil")
	pods := typed.NewInformer(kube.FromClient(others.CoreV1().Pods(""), kube.WithWrites(nil)))
	assert.ErrorContains(t, pods.Run(t.Context()), "WithWrites: the Writes is nil")
}

// TestOwnWritesHoldCallersForASecond, and no longer than their context.
func TestOwnWritesHoldCallersForASecond(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWriting(t, "")
		pods, _ := w.pods()
		ready := make(chan struct{})
		_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) { <-ready }}, typed.WithDelivery(typed.Block(1)))
		require.NoError(t, err)
		api := w.client.CoreV1().Pods("default")
		for i := range 3 {
			_, err := api.Create(w.ctx, rig.NewPod(fmt.Sprint("pod-", i), ""), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		begun := time.Now()
		_, err = api.Create(w.ctx, rig.NewPod("late", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(begun).Round(10*time.Millisecond))
		assert.NotZero(t, w.writes.Status().Late)
		close(ready)
		w.catchUp(pods)
		assert.Equal(t, 5, pods.Len())
	})
}
