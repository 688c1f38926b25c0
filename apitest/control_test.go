package apitest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/apitest"
)

// watchPods opens a watch of Pods from the present version on.
func watchPods(t *testing.T, ctx context.Context, s *apitest.Server, contentType string, options metav1.ListOptions) watch.Interface {
	t.Helper()
	if options.ResourceVersion == "" {
		options.ResourceVersion = s.ResourceVersion()
	}
	w, err := clientset(t, s, contentType).CoreV1().Pods("").Watch(ctx, options)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// remaining returns the events of a watch up to its end.
func remaining(t *testing.T, w watch.Interface) []watch.Event {
	t.Helper()
	var events []watch.Event
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return events
			}
			events = append(events, e)
		case <-time.After(patience):
			require.Fail(t, "the watch does not end")
		}
	}
}

func TestWatchesEndCleanly(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithBookmarks(0))
	pods := watchPods(t, ctx, s, "", metav1.ListOptions{})
	maps, err := clientset(t, s, "").CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer maps.Stop()
	require.NoError(t, s.WaitForWatches(ctx, "", 2))

	require.NoError(t, s.Create(ctx, pod("p")))
	assert.Equal(t, watch.Added, next(t, pods).Type)
	assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean}).Met())
	assert.Equal(t, 0, s.Watches("pods"))
	assert.Empty(t, remaining(t, pods), "a cut is no error")
	assert.Equal(t, 1, s.Watches("configmaps"), "another resource")
	assert.Equal(t, 1, s.Inject(apitest.Fault{Open: true, End: apitest.Clean}).Met())
	assert.Empty(t, remaining(t, maps))
}

func TestTornWatch(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithBookmarks(0))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/pods?watch=true&resourceVersion="+s.ResourceVersion(), nil)
	require.NoError(t, err)
	response, err := s.Config().Transport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	require.NoError(t, s.WaitForWatches(ctx, "pods", 1))

	require.NoError(t, s.Create(ctx, pod("p")))
	body := bufio.NewReader(response.Body)
	whole, err := body.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, whole, `"type":"ADDED"`)
	assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Torn}).Met())
	torn, err := io.ReadAll(body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Contains(t, string(torn), `{"type":"BOOKMARK"`)
	assert.NotContains(t, string(torn), "\n")
}

func TestErrorEvent(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		ctx := testContext(t)
		s := apitest.Start(t)
		w := watchPods(t, ctx, s, contentType, metav1.ListOptions{})
		assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")}).Met())
		events := remaining(t, w)
		require.Len(t, events, 1)
		assert.Equal(t, watch.Error, events[0].Type)
		assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(events[0].Object)))
	}
}

func TestEventFollowsTheWrite(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		ctx := testContext(t)
		s := apitest.Start(t)
		w := watchPods(t, ctx, s, contentType, metav1.ListOptions{})
		hold := s.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
		require.NoError(t, s.Create(ctx, pod("p")))
		nameless := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
		stranger := &corev1.Service{TypeMeta: metav1.TypeMeta{Kind: "Service", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "s"}}
		assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Added, Object: nameless}}).Met())
		assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Modified, Object: stranger}}).Met())
		hold.Remove()

		assert.Equal(t, "p", next(t, w).Object.(*corev1.Pod).Name)
		e := next(t, w)
		assert.Equal(t, watch.Added, e.Type)
		assert.Empty(t, e.Object.(*corev1.Pod).Name)
		assert.IsType(t, &corev1.Service{}, next(t, w).Object)
		require.NoError(t, s.Create(ctx, pod("q")))
		assert.Equal(t, "q", next(t, w).Object.(*corev1.Pod).Name, "the watch goes on")
	}
}

func TestBytesInAWatch(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	w := watchPods(t, ctx, s, runtime.ContentTypeJSON, metav1.ListOptions{})
	assert.Equal(t, 1, s.Inject(apitest.Fault{Resource: "pods", Open: true, Bytes: []byte("}garbage\n")}).Met())
	events := remaining(t, w)
	require.Len(t, events, 1)
	assert.Equal(t, watch.Error, events[0].Type, "the client cannot decode")
}

func TestHeldWatches(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithBookmarks(time.Millisecond))
	hold := s.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
	held := watchPods(t, ctx, s, "", metav1.ListOptions{AllowWatchBookmarks: true})
	maps, err := clientset(t, s, "").CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{ResourceVersion: s.ResourceVersion()})
	require.NoError(t, err)
	defer maps.Stop()
	require.NoError(t, s.Create(ctx, pod("p"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}))
	assert.Equal(t, watch.Added, next(t, maps).Type, "another resource, written later, arrives")
	select {
	case e := <-held.ResultChan():
		assert.Fail(t, "delivered while held", "%v", e)
	default:
	}
	hold.Remove()
	hold.Remove()
	e := next(t, held)
	for e.Type == watch.Bookmark {
		e = next(t, held)
	}
	assert.Equal(t, "p", e.Object.(*corev1.Pod).Name)
}

func TestHeldWatchesCanBeEnded(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	defer s.Inject(apitest.Fault{Verb: "watch", Hold: true}).Remove()
	w := watchPods(t, ctx, s, "", metav1.ListOptions{})
	s.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Added, Object: &corev1.Pod{}}})
	s.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean})
	assert.Empty(t, remaining(t, w))
}

func TestSlowWatchIsExpired(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	hold := s.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
	w := watchPods(t, ctx, s, "", metav1.ListOptions{})
	require.NoError(t, s.Create(ctx, pod("p")))
	s.Compact()
	hold.Remove()
	events := remaining(t, w)
	require.Len(t, events, 1)
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(events[0].Object)), "%v", events)
}

func TestHistoryIsBounded(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithHistory(10))
	first := s.ResourceVersion()
	require.NoError(t, s.Create(ctx, pod("p")))
	second := s.ResourceVersion()
	for range 10 {
		require.NoError(t, s.Delete(ctx, pod("p")))
		require.NoError(t, s.Create(ctx, pod("p")))
	}
	events := remaining(t, watchPods(t, ctx, s, "", metav1.ListOptions{ResourceVersion: first}))
	require.Len(t, events, 1)
	assert.Equal(t, watch.Error, events[0].Type)
	_, err := clientset(t, s, "").CoreV1().Pods("").List(ctx,
		metav1.ListOptions{ResourceVersion: second, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestBookmarks(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithBookmarks(0))
	with := watchPods(t, ctx, s, "", metav1.ListOptions{AllowWatchBookmarks: true})
	without := watchPods(t, ctx, s, "", metav1.ListOptions{})
	require.NoError(t, s.Create(ctx, pod("p")))
	require.NoError(t, s.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}))
	assert.Equal(t, 2, s.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Bookmark}}).Met())
	written := s.ResourceVersion()

	assert.Equal(t, "p", next(t, with).Object.(*corev1.Pod).Name)
	mark := next(t, with)
	require.Equal(t, watch.Bookmark, mark.Type)
	assert.Equal(t, written, mark.Object.(*corev1.Pod).ResourceVersion, "writes of other resources count")
	require.NoError(t, s.Create(ctx, pod("q")))
	assert.Equal(t, "q", next(t, with).Object.(*corev1.Pod).Name)
	assert.Equal(t, "p", next(t, without).Object.(*corev1.Pod).Name)
	assert.Equal(t, "q", next(t, without).Object.(*corev1.Pod).Name)

	again := watchPods(t, ctx, s, "", metav1.ListOptions{ResourceVersion: mark.Object.(*corev1.Pod).ResourceVersion})
	assert.Equal(t, "q", next(t, again).Object.(*corev1.Pod).Name, "a bookmark is where to go on")

	ticking := apitest.Start(t, apitest.WithBookmarks(time.Millisecond))
	w := watchPods(t, ctx, ticking, "", metav1.ListOptions{AllowWatchBookmarks: true})
	assert.Equal(t, watch.Bookmark, next(t, w).Type)
}

func TestWaitForWatches(t *testing.T) {
	s := apitest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.WaitForWatches(ctx, "pods", 1)
	assert.True(t, errors.Is(err, context.Canceled))
	assert.NoError(t, s.WaitForWatches(ctx, "pods", 0))
}

func TestUnspellableEvent(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	w := watchPods(t, ctx, s, runtime.ContentTypeProtobuf, metav1.ListOptions{})
	s.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Added, Object: &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1"}}}})
	assert.Empty(t, remaining(t, w), "the watch breaks off")
}

func TestSelectionByPhase(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		ctx := testContext(t)
		s := apitest.Start(t)
		w := watchPods(t, ctx, s, contentType, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		p := pod("p")
		require.NoError(t, s.Create(ctx, p))
		p.Status.Phase = corev1.PodRunning
		require.NoError(t, s.Update(ctx, p))
		e := next(t, w)
		assert.Equal(t, watch.Added, e.Type)
		p.Status.Phase = corev1.PodFailed
		require.NoError(t, s.Update(ctx, p))
		e = next(t, w)
		assert.Equal(t, watch.Deleted, e.Type)
		assert.Equal(t, corev1.PodRunning, e.Object.(*corev1.Pod).Status.Phase)
		assert.Equal(t, s.ResourceVersion(), e.Object.(*corev1.Pod).ResourceVersion)
	}
}

// A client that does not read fills its connection, and nothing else.
func TestStuckWatchDelaysNoOther(t *testing.T) {
	ctx := testContext(t)
	s, err := apitest.NewServer()
	require.NoError(t, err)
	stuck := do(t, ctx, s, http.MethodGet, "/api/v1/pods?watch=1&resourceVersion="+s.ResourceVersion(), http.Header{}, "")
	assert.Equal(t, http.StatusOK, stuck.StatusCode)
	w := watchPods(t, ctx, s, "", metav1.ListOptions{})
	const written = 130 // of 200 kB: 26 MB, more than sockets buffer
	for i := range written {
		p := pod(fmt.Sprintf("p%04d", i))
		p.Annotations = map[string]string{"large": strings.Repeat("x", 200_000)}
		require.NoError(t, s.Create(ctx, p))
	}
	for i := range written {
		require.Equal(t, fmt.Sprintf("p%04d", i), next(t, w).Object.(*corev1.Pod).Name)
	}
	assert.NoError(t, s.Close())
	assert.NoError(t, s.Close(), "a second call waits for the first")
}

func TestNothingGivenIsNoPanic(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	w := watchPods(t, ctx, s, "", metav1.ListOptions{})
	assert.Equal(t, 1, s.Inject(apitest.Fault{Open: true, Event: watch.Event{Type: watch.Added}}).Met())
	assert.Equal(t, 1, s.Inject(apitest.Fault{Open: true, Bandwidth: -1, Latency: -1, Times: -1}).Met())
	require.NoError(t, s.Create(ctx, pod("p")))
	assert.Equal(t, "p", next(t, w).Object.(*corev1.Pod).Name, "a fault that does nothing does nothing")

	s.Inject(apitest.Fault{Err: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 7}}})
	response := do(t, ctx, s, http.MethodGet, "/api/v1/pods", http.Header{}, "")
	assert.Equal(t, http.StatusInternalServerError, response.StatusCode)
}
