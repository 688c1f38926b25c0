package typed_test

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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/typedtest"
	"github.com/kubetyped/informer/typed/typedtest/history"
)

// A test of this file runs an informer on a server, in real time.

func newPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// serve starts a server with some pods and returns a client for it.
func serve(t *testing.T, pods int, opts ...typedtest.Option) (*typedtest.Server, *kubernetes.Clientset) {
	srv := typedtest.Start(t, opts...)
	for i := range pods {
		require.NoError(t, srv.Create(t.Context(), newPod(fmt.Sprintf("pod-%d", i), fmt.Sprintf("node-%d", i%3))))
	}
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	return srv, client
}

// start runs an informer until the test ends, and returns a context for the
// test's own waits.
func start[T index.Object](t *testing.T, informer *typed.Informer[T]) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return ctx
}

// record adds a handler that plays events back, and at the end of the test
// checks that each follows from the ones before.
func record(t *testing.T, informer *typed.Informer[*corev1.Pod]) *history.History[*corev1.Pod] {
	h := history.New[*corev1.Pod]()
	_, err := informer.Handle(h)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Err()) })
	return h
}

// checkSame compares the informer with the server, object by object.
func checkSame(ctx context.Context, t *testing.T, informer *typed.Informer[*corev1.Pod], client kubernetes.Interface) {
	t.Helper()
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, informer.WaitForResourceVersion(ctx, list.ResourceVersion))
	var want []*corev1.Pod
	for i := range list.Items {
		want = append(want, &list.Items[i])
	}
	assert.Empty(t, history.Diff("server", want, "cache", informer.List()))
}

func TestFromClient(t *testing.T) {
	for _, test := range []struct {
		name   string
		server []typedtest.Option
		source []typed.SourceOption
		adjust func(*rest.Config)
		lists  int
	}{
		{name: "streamed"},
		{name: "streamed protobuf", adjust: func(c *rest.Config) { c.ContentType = runtime.ContentTypeProtobuf }},
		{name: "listed", source: []typed.SourceOption{typed.WithoutWatchList()}, lists: 1},
		{name: "server cannot stream", server: []typedtest.Option{typedtest.WithoutWatchList()}, lists: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv, client := serve(t, 20, test.server...)
			config := srv.Config()
			if test.adjust != nil {
				test.adjust(config)
			}
			pods := typed.NewInformer(typed.FromClient(kubernetes.NewForConfigOrDie(config).CoreV1().Pods(""), test.source...))
			byNode := index.New("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
			require.NoError(t, pods.AddIndexes(byNode))
			record(t, pods)
			ctx := start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			assert.Equal(t, 20, pods.Len())
			assert.Equal(t, 7, byNode.Len("node-1"))

			_, err := client.CoreV1().Pods("default").Create(ctx, newPod("new", "node-1"), metav1.CreateOptions{})
			require.NoError(t, err)
			moved := newPod("pod-0", "node-1")
			_, err = client.CoreV1().Pods("default").Update(ctx, moved, metav1.UpdateOptions{})
			require.NoError(t, err)
			require.NoError(t, client.CoreV1().Pods("default").Delete(ctx, "pod-2", metav1.DeleteOptions{}))
			checkSame(ctx, t, pods, client)
			assert.Equal(t, 9, byNode.Len("node-1"))
			assert.GreaterOrEqual(t, srv.Requests("list", "pods"), test.lists)
		})
	}
	t.Run("cluster-scoped", func(t *testing.T) {
		t.Parallel()
		srv, client := serve(t, 0)
		require.NoError(t, srv.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}))
		nodes := typed.NewInformer(typed.FromClient(client.CoreV1().Nodes()))
		ctx := start(t, nodes)
		require.NoError(t, nodes.WaitForSync(ctx))
		_, ok := nodes.Get(index.Key{Name: "n1"})
		assert.True(t, ok)
	})
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		client := fake.NewClientset(newPod("a", "n1"))
		pods := typed.NewInformer(typed.FromClient(client.CoreV1().Pods("")))
		events := make(chan typed.Event[*corev1.Pod], 10)
		_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
			AddFunc:    func(p *corev1.Pod, initial bool) { events <- typed.Event[*corev1.Pod]{Type: index.Added, New: p} },
			UpdateFunc: func(_, p *corev1.Pod) { events <- typed.Event[*corev1.Pod]{Type: index.Updated, New: p} },
		})
		require.NoError(t, err)
		ctx := start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		assert.Equal(t, "a", (<-events).New.Name)
		_, err = client.CoreV1().Pods("default").Update(ctx, newPod("a", "n2"), metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "n2", (<-events).New.Spec.NodeName)
	})
	t.Run("custom resource", func(t *testing.T) {
		t.Parallel()
		gvr := corev1.SchemeGroupVersion.WithResource("pods")
		srv, _ := serve(t, 3)
		pods := dynamic.NewForConfigOrDie(srv.Config()).Resource(gvr)
		informer := typed.NewInformer(typed.FromListerWatcher[*unstructured.Unstructured](&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return pods.List(ctx, opts)
			},
			WatchFuncWithContext: pods.Watch,
		}))
		ctx := start(t, informer)
		require.NoError(t, informer.WaitForSync(ctx))
		assert.Equal(t, 3, informer.Len())
		for pod := range informer.Namespace("default") {
			assert.Equal(t, "Pod", pod.GetKind())
		}
	})
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	_, client := serve(t, 9)
	pods := typed.NewInformer(typed.FromClient(client.CoreV1().Pods("default"),
		typed.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"})),
		typed.WithFieldSelector(fields.OneTermEqualSelector("spec.nodeName", "node-1"))))
	h := record(t, pods)
	ctx := start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	assert.Equal(t, 3, pods.Len())
	other := newPod("pod-1", "node-1")
	other.Labels = map[string]string{"app": "db"}
	updated, err := client.CoreV1().Pods("default").Update(ctx, other, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.WaitForResourceVersion(ctx, updated.ResourceVersion))
	assert.Equal(t, 2, pods.Len(), "what leaves the selection is deleted")
	require.Eventually(t, func() bool { return pods.Status().Handlers[0].Backlog == 0 }, 5*time.Second, time.Millisecond)
	assert.Len(t, h.Objects(), 2)
}
