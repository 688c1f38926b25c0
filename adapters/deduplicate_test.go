package adapters_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/kubetyped/informer/adapters"
	ourinformers "github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/apitest"
)

// tolerant returns a Pod that has a toleration as all of them have.
func tolerant(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			Containers:  []corev1.Container{{Name: "server", Image: "shop:1"}},
			Tolerations: []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}},
		},
	}
}

// startShared starts an informer, and has it stopped at the end of the test.
func startShared(t *testing.T, informer cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	syncing, giveUp := context.WithTimeout(ctx, time.Minute)
	defer giveUp()
	require.True(t, cache.WaitForCacheSync(syncing.Done(), informer.HasSynced))
}

// waitForPod returns a Pod of an informer as soon as it is there in a version, or any if
// version is "".
func waitForPod(t *testing.T, informer cache.SharedIndexInformer, key, version string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	require.Eventually(t, func() bool {
		obj, ok, err := informer.GetStore().GetByKey(key)
		require.NoError(t, err)
		if !ok {
			return false
		}
		pod = obj.(*corev1.Pod)
		return version == "" || pod.ResourceVersion == version
	}, time.Minute, time.Millisecond)
	return pod
}

// TestDeduplication: parts that objects have in common are one value where the program asks
// for it, those of an update are those of the state before; not so otherwise, and not
// where a transform may modify objects.
func TestDeduplication(t *testing.T) {
	t.Parallel()
	same := func(obj any) (any, error) { return obj, nil }
	for name, test := range map[string]struct {
		informer func(t *testing.T, client kubernetes.Interface) cache.SharedIndexInformer
		shared   bool
	}{
		"client informer": {func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("shop")), cache.SharedIndexInformerOptions{})
		}, true},
		"client informer without": {func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return adapters.NewClientInformer(client.CoreV1().Pods("shop"), cache.SharedIndexInformerOptions{})
		}, false},
		"with a transform": {func(t *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			informer := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("shop")), cache.SharedIndexInformerOptions{})
			require.NoError(t, informer.SetTransform(same))
			return informer
		}, false},
		"served": {func(t *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("shop"))
			require.NoError(t, adapters.Serve(factory, adapters.Deduplicate(client.CoreV1().Pods("shop"))))
			return factory.Core().V1().Pods().Informer()
		}, true},
		"factory": {func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return ourinformers.NewSharedInformerFactoryWithOptions(client, 0, ourinformers.WithNamespace("shop"), ourinformers.WithDeduplication()).Core().V1().Pods().Informer()
		}, true},
		"factory without": {func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return ourinformers.NewSharedInformerFactoryWithOptions(client, 0, ourinformers.WithNamespace("shop")).Core().V1().Pods().Informer()
		}, false},
		"factory with a transform": {func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return ourinformers.NewSharedInformerFactoryWithOptions(client, 0, ourinformers.WithNamespace("shop"), ourinformers.WithTransform(same), ourinformers.WithDeduplication()).Core().V1().Pods().Informer()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t)
			require.NoError(t, srv.Create(t.Context(), tolerant("shop", "a"), tolerant("other", "z")))
			client, err := kubernetes.NewForConfig(srv.Config())
			require.NoError(t, err)
			informer := test.informer(t, client)
			startShared(t, informer)
			a := waitForPod(t, informer, "shop/a", "")
			assert.Equal(t, tolerant("shop", "a").Spec, a.Spec)
			assert.Empty(t, a.Kind, "as client-go's clients have it")

			require.NoError(t, srv.Create(t.Context(), tolerant("shop", "b")))
			b := waitForPod(t, informer, "shop/b", "")
			assert.Equal(t, test.shared, &a.Spec.Tolerations[0] == &b.Spec.Tolerations[0], "the parts of two objects")
			update := tolerant("shop", "a")
			update.Labels = map[string]string{"changed": "true"}
			require.NoError(t, srv.Update(t.Context(), update))
			next := waitForPod(t, informer, "shop/a", srv.ResourceVersion())
			assert.Equal(t, test.shared, &a.Spec.Tolerations[0] == &next.Spec.Tolerations[0], "the parts of two states")
			assert.Equal(t, "true", next.Labels["changed"])
			assert.Empty(t, next.Kind, "as client-go's clients have it")
			assert.Len(t, informer.GetStore().ListKeys(), 2, "one namespace")
		})
	}
}

// TestDeduplicationHeedsTweaks: requests have the selectors and limits of the client.
func TestDeduplicationHeedsTweaks(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), tolerant("shop", "a"), tolerant("shop", "b")))
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	informer := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("")), cache.SharedIndexInformerOptions{}, func(opts *metav1.ListOptions) {
		opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", "b").String()
	})
	startShared(t, informer)
	assert.Equal(t, []string{"shop/b"}, informer.GetStore().ListKeys())
}

// TestDeduplicationOfOtherClients: a client that asks no API server is used by its methods.
func TestDeduplicationOfOtherClients(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(tolerant("shop", "a"))
	informer := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("shop")), cache.SharedIndexInformerOptions{})
	startShared(t, informer)
	assert.Equal(t, []string{"shop/a"}, informer.GetStore().ListKeys())
	assert.Nil(t, adapters.Deduplicate[*corev1.Pod, *corev1.PodList](nil))
	factory := ourinformers.NewSharedInformerFactoryWithOptions(client, 0, ourinformers.WithDeduplication())
	nodes := factory.Core().V1().Nodes().Informer()
	startShared(t, nodes)
	assert.Empty(t, nodes.GetStore().ListKeys())
}

// TestDeduplicationRejectsBadObjects: an object that cannot be decoded ends the watch, as with a
// generated client, and is not stored; the informer continues.
func TestDeduplicationRejectsBadObjects(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), tolerant("shop", "a")))
	config := srv.Config()
	config.ContentType = "application/json"
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	informer := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("")), cache.SharedIndexInformerOptions{})
	startShared(t, informer)
	require.NoError(t, srv.WaitForWatches(t.Context(), "pods", 1))
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: "MODIFIED", Object: &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "stray", ResourceVersion: srv.ResourceVersion()},
	}}}).Met())
	require.Eventually(t, func() bool { return srv.Requests("watch", "pods")+srv.Requests("list", "pods") > 1 },
		time.Minute, time.Millisecond, "it begins anew")
	require.NoError(t, srv.Create(t.Context(), tolerant("shop", "b")))
	waitForPod(t, informer, "shop/b", "")
	assert.ElementsMatch(t, []string{"shop/a", "shop/b"}, informer.GetStore().ListKeys())
}

// TestDeduplicationSurvivesFaults: after watches that were cut or torn within an event, and
// versions that are gone, the informer has what the server has.
func TestDeduplicationSurvivesFaults(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	config := srv.Config()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	informer := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("")), cache.SharedIndexInformerOptions{})
	startShared(t, informer)
	faults := []func(){
		func() { srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean}) },
		func() { srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Torn}) },
		func() {
			srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Bookmark}})
		},
		func() {
			srv.Compact()
			srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean})
		},
	}
	for i := range 40 {
		name := fmt.Sprint("web-", i%7)
		pod := tolerant("shop", name)
		pod.Labels = map[string]string{"written": fmt.Sprint(i)}
		switch {
		case i < 7:
			require.NoError(t, srv.Create(t.Context(), pod))
		case i == 38:
			require.NoError(t, srv.Delete(t.Context(), pod))
		default:
			require.NoError(t, srv.Update(t.Context(), pod))
		}
		if i%5 == 4 {
			faults[i/5%len(faults)]()
		}
	}
	last := tolerant("shop", "last")
	require.NoError(t, srv.Create(t.Context(), last))
	waitForPod(t, informer, "shop/last", "")
	list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		want[pod.Name] = pod
	}
	got := map[string]corev1.Pod{}
	for _, obj := range informer.GetStore().List() {
		got[obj.(*corev1.Pod).Name] = *obj.(*corev1.Pod)
	}
	assert.Equal(t, want, got)
}

// TestDeduplicationLogsObstacles: the log names the reason if an informer cannot deduplicate its
// objects, and has no line if it can.
func TestDeduplicationLogsObstacles(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	options := cache.SharedIndexInformerOptions{}
	transformed := adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("")), options)
	require.NoError(t, transformed.SetTransform(func(obj any) (any, error) { return obj, nil }))
	for want, informer := range map[string]cache.SharedIndexInformer{
		"a transform function may modify them":  transformed,
		"is no client of client-go's clientset": adapters.NewClientInformer(adapters.Deduplicate(fake.NewClientset().CoreV1().Pods("")), options),
		"":                                      adapters.NewClientInformer(adapters.Deduplicate(client.CoreV1().Pods("")), options),
	} {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(2)))
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.RunWithContext(ctx)
		}()
		require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
		cancel()
		<-done
		var received []string
		for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
			if entry.Message == "Deduplication is off" {
				received = append(received, fmt.Sprint(entry.WithKVList, entry.ParameterKVList))
			}
		}
		if want == "" {
			assert.Empty(t, received)
			continue
		}
		require.Len(t, received, 1)
		assert.Contains(t, received[0], want)
		assert.Contains(t, received[0], "*v1.Pod")
	}
}
