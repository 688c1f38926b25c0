package ctrlruntime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/kube"
)

// newOwnWriting returns a client that reads from a running cache WithOwnWrites, of whose server
// watches lag.
func newOwnWriting(t *testing.T, consistent bool, opts ...ctrlruntime.CacheOption) client.Client {
	srv := startWithWidgets(t)
	writes := kube.NewWrites()
	config := writes.Config(srv.Config())
	config.ContentType = runtime.ContentTypeJSON // of protobuf, nothing can be made for unstructured objects
	own, err := ctrlruntime.NewCache(append(opts, ctrlruntime.WithOwnWrites(writes))...)(config, cache.Options{Scheme: withWidgets})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- own.Start(t.Context()) }()
	t.Cleanup(func() { assert.NoError(t, <-ended) })
	c, err := client.New(config, client.Options{Scheme: withWidgets, Cache: &client.CacheOptions{
		Reader: own, Unstructured: true, EnableReadYourWritesConsistency: ptr.To(consistent),
	}})
	require.NoError(t, err)
	for _, of := range forms {
		_, err := own.GetInformer(t.Context(), of)
		require.NoError(t, err)
	}
	require.True(t, own.WaitForCacheSync(t.Context()))
	srv.Inject(apitest.Fault{Lag: true})
	return c
}

// TestWithOwnWrites: Get has what was written at once, in whatever form objects are kept.
func TestWithOwnWrites(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain": nil, "sharing": {ctrlruntime.WithDeduplication()}, "typed": {ctrlruntime.Typed[*corev1.Pod]()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			c := newOwnWriting(t, false, opts...)
			for _, kind := range []string{"Pod", "Widget"} {
				var obj client.Object = &corev1.Pod{}
				same := []client.Object{&corev1.Pod{}, unstructuredOf(podKind), metadataOf(podKind)}
				if kind == "Widget" {
					obj = &widget{Spec: widgetSpec{Size: 5}}
					same = []client.Object{&widget{}, unstructuredOf(widgetKind), metadataOf(widgetKind)}
				}
				obj.SetNamespace("default")
				obj.SetName("a")
				require.NoError(t, c.Create(ctx, obj))
				obj.SetLabels(map[string]string{"x": "y"})
				require.NoError(t, c.Update(ctx, obj))
				for _, got := range same {
					require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(obj), got))
					assert.Equal(t, obj.GetResourceVersion(), got.GetResourceVersion(), "%T", got)
					assert.Equal(t, "y", got.GetLabels()["x"])
				}
				require.NoError(t, c.Delete(ctx, obj))
				for _, got := range same {
					assert.True(t, apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(obj), got)))
				}
			}
		})
	}
}

// TestInspectOwnWrites: Inspect shows the counts of answers on the page and in the
// metrics, without being given the Writes.
func TestInspectOwnWrites(t *testing.T) {
	srv := startWithWidgets(t)
	writes := kube.NewWrites()
	config := writes.Config(srv.Config())
	mgr := newRecorder(t, config, ctrlruntime.NewCache(ctrlruntime.WithOwnWrites(writes)))
	_, err := ctrlruntime.Inspect(mgr, inspect.WithWrites(writes))
	require.NoError(t, err)
	stop := mgr.run(t)
	defer stop()
	_, err = mgr.GetCache().GetInformer(t.Context(), &corev1.Pod{}) // which waits for nothing before the cache runs
	require.NoError(t, err)
	require.True(t, mgr.GetCache().WaitForCacheSync(t.Context()))
	srv.Inject(apitest.Fault{Lag: true})

	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "a"
	require.NoError(t, mgr.GetClient().Create(t.Context(), pod))
	other := &corev1.Pod{}
	other.Namespace, other.Name = "default", "b"
	require.NoError(t, mgr.GetClient().Create(t.Context(), other, client.DryRunAll))
	report := mgr.report(t)
	require.Len(t, report.Writes, 1, "once")
	assert.Equal(t, strings.TrimPrefix(srv.URL, "http://"), report.Writes[0].Name)
	assert.EqualValues(t, 1, report.Writes[0].Taken)
	assert.Equal(t, []snapshot.LeftOut{{Reason: "dry run", Answers: 1}}, report.Writes[0].LeftOut)
	assert.Equal(t, 1, report.Informers[0].Ahead)
	assert.Equal(t, pod.ResourceVersion, report.Informers[0].AheadVersion)
	for _, name := range []string{"kubetyped_own_writes_taken_total", "kubetyped_own_writes_left_out_total", "kubetyped_informer_ahead_objects"} {
		assert.True(t, hasMetric(t, name), name)
	}
	stop()

	without := newRecorder(t, srv.Config(), ctrlruntime.NewCache())
	_, err = ctrlruntime.Inspect(without)
	require.NoError(t, err)
	assert.Empty(t, without.report(t).Writes)
	assert.False(t, hasMetric(t, "kubetyped_own_writes_taken_total"))
	without.run(t)()
}

// TestOwnWritesExcludeTheBlockingClient: it gets an error that says so.
func TestOwnWritesExcludeTheBlockingClient(t *testing.T) {
	t.Parallel()
	c := newOwnWriting(t, true)
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "a"
	assert.ErrorContains(t, c.Create(t.Context(), pod), "EnableReadYourWritesConsistency and WithOwnWrites exclude each other")
	_, err := ctrlruntime.NewCache(ctrlruntime.WithOwnWrites(nil))(startWithWidgets(t).Config(), cache.Options{})
	assert.ErrorContains(t, err, "WithOwnWrites: the Writes is nil")
}
