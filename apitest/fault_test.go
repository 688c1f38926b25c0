package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/apitest"
)

func TestFaultRefuses(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		err  error
		code int
		is   func(error) bool
	}{
		"403": {apierrors.NewForbidden(pods, "p", errors.New("no")), http.StatusForbidden, apierrors.IsForbidden},
		"404": {apierrors.NewNotFound(pods, "p"), http.StatusNotFound, apierrors.IsNotFound},
		"429": {apierrors.NewTooManyRequests("slow down", 7), http.StatusTooManyRequests, apierrors.IsTooManyRequests},
		"500": {errors.New("plain"), http.StatusInternalServerError, apierrors.IsInternalError},
		"503": {apierrors.NewServiceUnavailable("later"), http.StatusServiceUnavailable, apierrors.IsServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			s := apitest.Start(t)
			client := clientset(t, s, "")
			remove := s.Inject(apitest.Fault{Verb: "list", Resource: "pods", Err: test.err})

			var code int
			result := client.CoreV1().RESTClient().Get().MaxRetries(0).Resource("pods").Do(ctx)
			result.StatusCode(&code)
			assert.Equal(t, test.code, code)
			assert.True(t, test.is(result.Error()), "%v", result.Error())
			_, err := client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
			assert.NoError(t, err, "another resource")
			_, err = client.CoreV1().Pods("default").Create(ctx, pod("p"), metav1.CreateOptions{})
			assert.NoError(t, err, "another verb")

			remove.Remove()
			remove.Remove()
			_, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
			assert.NoError(t, err)
			assert.Equal(t, 2, s.Requests("list", "pods"), "refused requests count")
		})
	}
}

func TestFaultRetryAfter(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	s.Inject(apitest.Fault{Err: apierrors.NewTooManyRequests("slow down", 7)})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/pods", nil)
	require.NoError(t, err)
	response, err := s.Config().Transport.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "7", response.Header.Get("Retry-After"))
}

func TestFaultTimes(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	client := clientset(t, s, "")
	s.Inject(apitest.Fault{Verb: "get", Name: "p", Times: 2, Err: apierrors.NewBadRequest("not now")})
	require.NoError(t, s.Create(ctx, pod("p"), pod("q")))
	get := func(name string) error {
		_, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err
	}
	assert.NoError(t, get("q"))
	assert.True(t, apierrors.IsBadRequest(get("p")))
	assert.True(t, apierrors.IsBadRequest(get("p")))
	assert.NoError(t, get("p"))
}

func TestFaultAborts(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	remove := s.Inject(apitest.Fault{Verb: "create", End: apitest.Abrupt})
	client := clientset(t, s, "")
	_, err := client.CoreV1().Pods("default").Create(ctx, pod("p"), metav1.CreateOptions{})
	require.Error(t, err)
	var status apierrors.APIStatus
	assert.False(t, errors.As(err, &status), "no answer at all: %v", err)
	remove.Remove()
	_, err = client.CoreV1().Pods("default").Create(ctx, pod("p"), metav1.CreateOptions{})
	assert.NoError(t, err, "the aborted request has not been carried out")
}

func TestFaultDelays(t *testing.T) {
	s := apitest.Start(t)
	client := clientset(t, s, "")
	s.Inject(apitest.Fault{Verb: "list", Way: apitest.Requests, Latency: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	other := apitest.Start(t)
	other.Inject(apitest.Fault{Verb: "list", Way: apitest.Requests, Latency: 30 * time.Millisecond})
	began := time.Now()
	_, err = clientset(t, other, "").CoreV1().Pods("").List(testContext(t), metav1.ListOptions{})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
}

func TestCloseCutsADelayShort(t *testing.T) {
	s, err := apitest.NewServer()
	require.NoError(t, err)
	client := clientset(t, s, "")
	s.Inject(apitest.Fault{Verb: "get", Way: apitest.Requests, Latency: time.Hour})
	answered := make(chan error, 1)
	go func() {
		answered <- client.CoreV1().RESTClient().Get().MaxRetries(0).Namespace("default").Resource("pods").Name("p").
			VersionedParams(&metav1.GetOptions{}, scheme.ParameterCodec).Do(t.Context()).Error()
	}()
	require.Eventually(t, func() bool { return s.Requests("get", "pods") == 1 }, patience, time.Millisecond)
	require.NoError(t, s.Close())
	assert.Error(t, <-answered)
}

// TestFaultEventOfAWatchThatBegins: what a fault sends comes after what was written before, so that
// a bookmark skips none of the objects that a watch begins with.
func TestFaultEventOfAWatchThatBegins(t *testing.T) {
	s := apitest.Start(t, apitest.WithBookmarks(0))
	const pods = 300
	for i := range pods {
		require.NoError(t, s.Create(t.Context(), pod(fmt.Sprint("p", i))))
	}
	client := clientset(t, s, "").CoreV1().Pods("default")
	for _, version := range []string{"0", "1"} {
		s.Inject(apitest.Fault{Verb: "watch", Times: 1, Event: watch.Event{Type: watch.Bookmark}, End: apitest.Clean})
		w, err := client.Watch(testContext(t), metav1.ListOptions{AllowWatchBookmarks: true, ResourceVersion: version})
		require.NoError(t, err)
		var types []watch.EventType
		for e := range w.ResultChan() {
			types = append(types, e.Type)
		}
		require.Greater(t, len(types), pods, "from version %s", version)
		assert.NotContains(t, types[:pods], watch.Bookmark, "from version %s", version)
	}
}

// TestFaultFreezeKeepsWrites: writes that a client gives up arrive when the freeze ends, whether
// they have a body or none. Reads do not matter any more.
func TestFaultFreezeKeepsWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apitest.Start(t, apitest.WithObjects(pod("p")))
		pods := clientset(t, s, "").CoreV1().Pods("default")
		in := s.Inject(apitest.Fault{Freeze: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		bare, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.URL+"/api/v1/namespaces/default/pods/p", nil)
		require.NoError(t, err)
		_, err = s.Config().Transport.RoundTrip(bare)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = pods.Create(ctx, pod("q"), metav1.CreateOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		in.Remove()
		synctest.Wait()
		left, err := apitest.Objects[*corev1.Pod](s)
		require.NoError(t, err)
		require.Len(t, left, 1)
		assert.Equal(t, "q", left[0].Name)
	})
}
