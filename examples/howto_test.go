package examples_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// The code of how-to guides.

// readyz answers 200 when the first lists of the informers are in their stores.
func readyz(informers ...typed.AnyInformer) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := control.Ready(informers...); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

func TestReadyz(t *testing.T) {
	srv := apitest.Start(t)
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	get := func() int {
		w := httptest.NewRecorder()
		readyz(pods)(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return w.Code
	}
	assert.Equal(t, http.StatusServiceUnavailable, get())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- pods.Run(ctx) }()
	require.NoError(t, pods.WaitForSync(ctx))
	assert.Equal(t, http.StatusOK, get())
	cancel()
	require.NoError(t, <-ended)
}

// newRecorder returns what writes Kubernetes Events until ctx ends.
func newRecorder(ctx context.Context, client kubernetes.Interface) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "my-controller"})
}

func TestRecorder(t *testing.T) {
	srv := apitest.Start(t)
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := typed.NewInformer(kube.FromREST[*corev1.Event](srv.Config()))
	stream := events.Events(ctx)
	ended := make(chan error)
	go func() { ended <- events.Run(ctx) }()

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}}
	recorder := newRecorder(ctx, client)
	recorder.Eventf(pod, corev1.EventTypeWarning, "ScaleFailed", "create Pod: %v", "quota exceeded")

	for e := range stream.All() {
		assert.Equal(t, "create Pod: quota exceeded", e.New.Message)
		break
	}
	cancel()
	require.NoError(t, <-ended)
}

// pageOf returns up to size Pods of a range that the selector matches, and the range of the
// next page.
func pageOf(byName *index.Ordered[string, *corev1.Pod], from index.Range[string], selector labels.Selector, size int) ([]*corev1.Pod, index.Range[string]) {
	var page []*corev1.Pod
	for name, pod := range byName.Range(from) {
		if !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		page = append(page, pod)
		from = from.After(name, index.KeyOf(pod))
		if len(page) == size {
			break
		}
	}
	return page, from
}

func TestPageOf(t *testing.T) {
	byName := index.NewOrdered("name", func(p *corev1.Pod) (string, bool) { return p.Name, true })
	store := index.NewIndexer[*corev1.Pod]()
	require.NoError(t, store.AddIndexes(byName))
	var changes []index.Change[*corev1.Pod]
	for i := range 10 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)}}}
		changes = append(changes, index.Change[*corev1.Pod]{Object: pod, Reason: index.Watched})
	}
	store.Apply(nil, changes, "1")

	odd := labels.SelectorFromSet(labels.Set{"odd": "1"})
	var names [][]string
	for page, next := pageOf(byName, index.Range[string]{}, odd, 2); len(page) > 0; page, next = pageOf(byName, next, odd, 2) {
		names = append(names, nil)
		for _, pod := range page {
			names[len(names)-1] = append(names[len(names)-1], pod.Name)
		}
	}
	assert.Equal(t, [][]string{{"web-1", "web-3"}, {"web-5", "web-7"}, {"web-9"}}, names)
}

// Two controllers on one informer, compiled and not run: each has a handle, and a queue.
var _ = twoControllers

func twoControllers(ctx context.Context, factory *kube.Factory, first, second control.Queue[index.Key], enqueue1, enqueue2 control.Adder[index.Key],
	reconcile1, reconcile2 func(ctx context.Context, key index.Key) error,
) error {
	pods, err := kube.For[*corev1.Pod](factory)
	if err != nil {
		return err
	}
	defer pods.Release()
	if _, err := pods.Handle(control.Enqueue[*corev1.Pod](enqueue1)); err != nil {
		return err
	}
	if _, err := pods.Handle(control.Enqueue[*corev1.Pod](enqueue2)); err != nil {
		return err
	}
	return control.Run(ctx,
		control.WithSynced(pods),
		control.WithWorkers(first, 2, reconcile1),
		control.WithWorkers(second, 2, reconcile2))
}

// contactAge returns how old reads may be.
func contactAge(pods *typed.Informer[*corev1.Pod]) time.Duration {
	return time.Since(pods.Status().LastContact)
}

var _ = contactAge
