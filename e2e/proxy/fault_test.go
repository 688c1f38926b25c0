package proxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/e2e/proxy"
)

var pods = schema.GroupResource{Resource: "pods"}

// assertNoAnswer checks that a request failed below the API.
func assertNoAnswer(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	var status apierrors.APIStatus
	assert.False(t, errors.As(err, &status), "no answer at all: %v", err)
}

func listPods(ctx context.Context, client kubernetes.Interface) (int, error) {
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

func TestFaultRefuses(t *testing.T) {
	r := newRig(t)
	r.create("p")
	for name, test := range map[string]struct {
		err  error
		code int
		is   func(error) bool
	}{
		"401":           {apierrors.NewUnauthorized("who are you?"), 401, apierrors.IsUnauthorized},
		"403":           {apierrors.NewForbidden(pods, "p", errors.New("no")), 403, apierrors.IsForbidden},
		"429":           {apierrors.NewTooManyRequests("slow down", 7), 429, apierrors.IsTooManyRequests},
		"429 any time":  {apierrors.NewTooManyRequests("slow down", 0), 429, apierrors.IsTooManyRequests},
		"500":           {errors.New("plain"), 500, apierrors.IsInternalError},
		"503":           {apierrors.NewServiceUnavailable("later"), 503, apierrors.IsServiceUnavailable},
		"no such code":  {&apierrors.StatusError{}, 500, func(err error) bool { return err != nil }},
		"410, of watch": {apierrors.NewResourceExpired("too old"), 410, apierrors.IsResourceExpired},
	} {
		for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
			t.Run(name+" "+contentType, func(t *testing.T) {
				r := r.in(t)
				config := r.proxy.Config()
				config.ContentType = contentType
				client := r.clientOf(config)
				before := r.proxy.Responses("list", "pods", test.code)
				passed := r.server.Requests("list", "pods")
				fault := r.proxy.Inject(proxy.Fault{Verb: "list", Resource: "pods", Err: test.err})

				var code int
				result := client.CoreV1().RESTClient().Get().MaxRetries(0).Resource("pods").Do(r.ctx)
				result.StatusCode(&code)
				assert.Equal(t, test.code, code)
				assert.True(t, test.is(result.Error()), "%v", result.Error())
				assert.Equal(t, before+1, r.proxy.Responses("list", "pods", test.code))
				assert.Equal(t, passed, r.server.Requests("list", "pods"), "the API server is not asked")
				_, err := client.CoreV1().ConfigMaps("").List(r.ctx, metav1.ListOptions{})
				assert.NoError(t, err, "another resource")
				_, err = client.CoreV1().Pods("default").Get(r.ctx, "p", metav1.GetOptions{})
				assert.NoError(t, err, "another verb")

				fault.Remove()
				fault.Remove()
				n, err := listPods(r.ctx, client)
				assert.NoError(t, err)
				assert.Equal(t, 1, n)
				assert.Equal(t, 1, fault.Count())
			})
		}
	}
}

func TestFaultRetryAfter(t *testing.T) {
	r := newRig(t)
	r.proxy.Inject(proxy.Fault{Times: 1, Err: apierrors.NewTooManyRequests("slow down", 7)})
	r.proxy.Inject(proxy.Fault{Times: 1, Err: apierrors.NewTooManyRequests("slow down", 0)})
	config := r.proxy.Config()
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	for _, want := range []string{"7", ""} {
		response, err := client.Get(config.Host + "/api/v1/pods")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		assert.Equal(t, want, response.Header.Get("Retry-After"))
	}
}

func TestFaultMatches(t *testing.T) {
	r := newRig(t)
	client := r.client()
	fault := r.proxy.Inject(proxy.Fault{Verb: "get", Namespace: "default", Name: "p", Times: 2, Err: apierrors.NewBadRequest("not now")})
	r.create("p", "q")
	get := func(namespace, name string) error {
		_, err := client.CoreV1().Pods(namespace).Get(r.ctx, name, metav1.GetOptions{})
		return err
	}
	assert.NoError(t, get("default", "q"))
	assert.True(t, apierrors.IsNotFound(get("other", "p")))
	assert.True(t, apierrors.IsBadRequest(get("default", "p")))
	assert.True(t, apierrors.IsBadRequest(get("default", "p")))
	assert.NoError(t, get("default", "p"), "twice is enough")
	assert.Equal(t, 2, fault.Count())
}

func TestFaultsInOrder(t *testing.T) {
	r := newRig(t)
	first := r.proxy.Inject(proxy.Fault{Delay: time.Nanosecond})
	second := r.proxy.Inject(proxy.Fault{Err: apierrors.NewBadRequest("second")})
	third := r.proxy.Inject(proxy.Fault{Err: apierrors.NewBadRequest("third")})
	_, err := listPods(r.ctx, r.client())
	assert.ErrorContains(t, err, "second")
	assert.Equal(t, []int{1, 1, 0}, []int{first.Count(), second.Count(), third.Count()})
}

func TestFaultAborts(t *testing.T) {
	r := newRig(t)
	fault := r.proxy.Inject(proxy.Fault{Verb: "create", Abort: true})
	client := r.client()
	_, err := client.CoreV1().Pods("default").Create(r.ctx, pod("p"), metav1.CreateOptions{})
	assertNoAnswer(t, err)
	assert.Zero(t, r.proxy.Responses("create", "", 0))
	fault.Remove()
	_, err = client.CoreV1().Pods("default").Create(r.ctx, pod("p"), metav1.CreateOptions{})
	assert.NoError(t, err, "the aborted request has not been carried out")
}

func TestFaultDelays(t *testing.T) {
	r := newRig(t)
	fault := r.proxy.Inject(proxy.Fault{Verb: "list", Delay: moment})
	began := time.Now()
	_, err := listPods(r.ctx, r.client())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), moment)
	fault.Remove()

	r.proxy.Inject(proxy.Fault{Verb: "list", Delay: time.Hour})
	ctx, cancel := context.WithTimeout(r.ctx, moment)
	defer cancel()
	_, err = listPods(ctx, r.client())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// do returns the answer to a plain request; its body is the caller's to close.
func (r *rig) do(path string) *http.Response {
	r.Helper()
	config := r.proxy.Config()
	client, err := rest.HTTPClientFor(config)
	require.NoError(r, err)
	request, err := http.NewRequestWithContext(r.ctx, http.MethodGet, config.Host+path, nil)
	require.NoError(r, err)
	response, err := client.Do(request)
	require.NoError(r, err)
	return response
}

// get returns a plain answer, and how it ends.
func (r *rig) get(path string) (header http.Header, body []byte, err error) {
	r.Helper()
	response := r.do(path)
	body, err = io.ReadAll(response.Body)
	require.NoError(r, response.Body.Close())
	return response.Header, body, err
}

func TestFaultCutsAnswers(t *testing.T) {
	const after = 40_000 // more than one buffer
	for _, end := range endings {
		t.Run(end.String(), func(t *testing.T) {
			r := newRig(t)
			large := pod("large")
			large.Annotations = map[string]string{"large": strings.Repeat("x", 3*after)}
			require.NoError(t, r.server.Create(r.ctx, large))
			_, whole, err := r.get("/api/v1/pods")
			require.NoError(t, err)
			r.proxy.Inject(proxy.Fault{Verb: "list", Times: 2, End: end, After: after})

			header, body, err := r.get("/api/v1/pods")
			assert.Equal(t, string(whole[:after]), string(body))
			if end == proxy.Clean {
				assert.NoError(t, err)
				assert.Empty(t, header.Get("Content-Length"))
			} else {
				assert.Error(t, err)
			}
			_, err = listPods(r.ctx, r.client())
			assert.Error(t, err, "half a list is no list")
			assert.Equal(t, 2, r.proxy.Cuts("pods"))

			n, err := listPods(r.ctx, r.client())
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			r.proxy.Inject(proxy.Fault{End: end, After: 1 << 20})
			_, err = listPods(r.ctx, r.client())
			assert.NoError(t, err, "it is shorter")
			assert.Equal(t, 2, r.proxy.Cuts(""))
		})
	}
}

func TestFaultSlowsAnswers(t *testing.T) {
	r := newRig(t)
	r.create("a", "b", "c", "d")
	_, whole, err := r.get("/api/v1/pods")
	require.NoError(t, err)
	r.proxy.Inject(proxy.Fault{Verb: "list", BytesPerSecond: 4 * len(whole)})

	response := r.do("/api/v1/pods")
	defer response.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(response.Body, first)
	require.NoError(t, err)
	began := time.Now()
	rest, err := io.ReadAll(response.Body)
	took := time.Since(began)

	require.NoError(t, err)
	assert.Equal(t, string(whole), string(first)+string(rest))
	assert.GreaterOrEqual(t, took, 150*time.Millisecond, "250 ms for all, 200 for what follows the first piece")
}
