package kube_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// TestOwnWritesOfNamespaces: callers do not wait until all namespaces are listed, and their
// writes are there then.
func TestOwnWritesOfNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWriting(t, "")
		forbidden := w.srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Verb: "list", Err: apierrors.NewForbidden(
			schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))})
		streamed := w.srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Verb: "watch", Err: apierrors.NewForbidden(
			schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))})
		pods := typed.NewInformer(source.FromNamespaces(source.NewNamespaces("blue", "red"), func(namespace string) source.Source[*corev1.Pod] {
			return kube.FromClient(w.client.CoreV1().Pods(namespace), kube.WithWrites(w.writes))
		}))
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- pods.Run(ctx) }()
		time.Sleep(time.Second)
		w.hold()
		begun := time.Now()
		early, err := w.client.CoreV1().Pods("red").Create(ctx, podNamed("red", "early"), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Zero(t, time.Since(begun))
		w.lag.Remove()
		forbidden.Remove()
		streamed.Remove()
		require.NoError(t, pods.WaitForSync(ctx))
		synctest.Wait()
		_, ok := pods.Get(index.KeyOf(early))
		assert.True(t, ok)
		time.Sleep(time.Second)
		w.hold()
		for _, namespace := range []string{"blue", "red"} {
			made, err := w.client.CoreV1().Pods(namespace).Create(ctx, podNamed(namespace, "late"), metav1.CreateOptions{})
			require.NoError(t, err)
			_, ok := pods.Get(index.KeyOf(made))
			assert.True(t, ok)
		}
		assert.Equal(t, 2, pods.Status().Ahead.Keys)
		w.lag.Remove()
		time.Sleep(10 * time.Second)
		assert.Zero(t, pods.Status().Ahead)
		assert.Zero(t, w.writes.Status().Late)
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestOwnWritesInViews: a view has own writes as soon as its inputs do.
func TestOwnWritesInViews(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWriting(t, "")
		pods, _ := w.pods()
		red := typed.NewInformer(view.Filter(view.Of(pods), func(p *corev1.Pod) bool { return p.Namespace == "red" }))
		require.NoError(t, red.WaitForSync(rig.Start(t, red)))
		for _, namespace := range []string{"blue", "red"} {
			_, err := w.client.CoreV1().Pods(namespace).Create(w.ctx, podNamed(namespace, "a"), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.Equal(t, []index.Key{{Namespace: "red", Name: "a"}}, keysOf(red))
		require.NoError(t, w.client.CoreV1().Pods("red").Delete(w.ctx, "a", metav1.DeleteOptions{}))
		synctest.Wait()
		assert.Empty(t, keysOf(red))
		w.catchUp(pods)
	})
}

// keysOf returns the keys of the objects of an informer.
func keysOf[T index.Object](informer *typed.Informer[T]) (keys []index.Key) {
	for _, obj := range informer.List() {
		keys = append(keys, index.KeyOf(obj))
	}
	return keys
}

// versionedSink is a sink that needs the version of each change, as those of shards and fleets do.
type versionedSink struct{ *mirrorSink[*corev1.Pod] }

func (versionedSink) Decoding() source.Decoding[*corev1.Pod] {
	return source.Decoding[*corev1.Pod]{Versioned: "it compares versions"}
}

// TestSourcesThatRefuseWrites say why. The tests of packages shard and fleet show what they say.
func TestSourcesThatRefuseWrites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		writes := kube.NewWrites()
		config := writes.Config(srv.Config())
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		lw := cache.NewListWatchFromClient(nil, "pods", "", nil)
		err := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](lw, kube.WithWrites(writes))).Run(ctx)
		assert.ErrorContains(t, err, "WithWrites is for FromREST and FromClient")
		_, err = kube.NewWriter[*corev1.Pod](config, kube.WithWrites(writes))
		assert.ErrorContains(t, err, "WithWrites: for what lists and watches")

		whole := kube.FromREST[*corev1.Pod](config, kube.WithWrites(writes))
		part := whole.(source.Sharder[*corev1.Pod]).InShards(`shardRange(object.metadata.uid, '0x0', '0x8000000000000000')`)
		for _, src := range []source.Source[*corev1.Pod]{whole, part} {
			err := src.Run(ctx, versionedSink{&mirrorSink[*corev1.Pod]{to: newMirror()}})
			assert.ErrorContains(t, err, "WithWrites: it compares versions; use Expectations")
		}
	})
}
