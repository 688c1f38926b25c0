package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
)

// TestOwnWritesAndOldLists: a list that is older than an answer, of a server whose cache lags,
// takes nothing back.
func TestOwnWritesAndOldLists(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWriting(t, "", apitest.WithObjects(rig.NewPod("old", ""), rig.NewPod("gone", "")))
		pods, _ := w.pods()
		api := w.client.CoreV1().Pods("default")
		made, err := api.Create(w.ctx, rig.NewPod("new", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		old, err := api.Patch(w.ctx, "old", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.NoError(t, api.Delete(w.ctx, "gone", metav1.DeleteOptions{}))
		check := func() {
			t.Helper()
			for _, want := range []*corev1.Pod{made, old} {
				got, ok := pods.Get(index.KeyOf(want))
				require.True(t, ok)
				assert.Equal(t, want.ResourceVersion, got.ResourceVersion)
			}
			assert.Equal(t, 2, pods.Len())
		}
		check()
		w.srv.Inject(apitest.Fault{Verb: "watch", Open: true, Err: apierrors.NewResourceExpired("too old")})
		time.Sleep(time.Minute)
		require.Equal(t, 1, pods.Status().Relists)
		check()
		w.catchUp(pods)
	})
}

// TestOwnWritesThatNeverCome: if the watch reports for five minutes and does not bring what
// was answered, a list decides.
func TestOwnWritesThatNeverCome(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWriting(t, runtime.ContentTypeJSON)
		config := w.srv.Config()
		config.ContentType = runtime.ContentTypeJSON
		invented := &spoiling{body: func() io.ReadCloser {
			return bodyOf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"default","uid":"u","resourceVersion":"999999"}}`)
		}}
		config.Wrap(func(base http.RoundTripper) http.RoundTripper { invented.RoundTripper = base; return invented })
		client, err := kubernetes.NewForConfig(w.writes.Config(config))
		require.NoError(t, err)
		pods, _ := w.pods()
		w.lag.Remove()
		_, err = client.CoreV1().Pods("default").Create(w.ctx, rig.NewPod("real", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		_, ok := pods.Get(index.Key{Namespace: "default", Name: "x"})
		require.True(t, ok)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 1, pods.Status().Relists)
		assert.NoError(t, pods.Status().LastErr)
		_, ok = pods.Get(index.Key{Namespace: "default", Name: "x"})
		assert.False(t, ok)
		assert.Equal(t, 1, pods.Len())
	})
}

// TestSpoiledAnswers are passed on as they are, and left to the watch.
func TestSpoiledAnswers(t *testing.T) {
	t.Parallel()
	w := newWriting(t, runtime.ContentTypeJSON)
	spoil := &spoiling{}
	config := w.srv.Config()
	config.ContentType = runtime.ContentTypeJSON
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { spoil.RoundTripper = base; return spoil })
	client, err := kubernetes.NewForConfig(w.writes.Config(config))
	require.NoError(t, err)
	pods, _ := w.pods()
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"default","resourceVersion":`
	for i, body := range []io.ReadCloser{
		bodyOf(pod), bodyOf(`[]`), bodyOf(`{"kind":"Secret","apiVersion":"v2"}`), bodyOf(pod + `"abc"}}`), bodyOf(pod + `"5"}}` + strings.Repeat(" ", 9<<20)),
		io.NopCloser(io.MultiReader(strings.NewReader(pod), iotest.ErrReader(io.ErrUnexpectedEOF))),
	} {
		spoil.body = func() io.ReadCloser { return body }
		made, err := client.CoreV1().Pods("default").Create(w.ctx, rig.NewPod(fmt.Sprint("pod-", i), ""), metav1.CreateOptions{})
		switch i {
		case 3, 4:
			require.NoError(t, err)
			assert.Equal(t, "x", made.Name)
		default:
			assert.Error(t, err)
		}
	}
	assert.Zero(t, pods.Len())
	assert.Equal(t, map[string]uint64{"broken": 3, "form": 1, "version": 1, "large": 1}, w.writes.Status().LeftOut)
	w.catchUp(pods)
}

// spoiling is a transport that answers writes with something else.
type spoiling struct {
	http.RoundTripper
	body func() io.ReadCloser
}

func (s *spoiling) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		_ = response.Body.Close()
		response.Body, response.ContentLength = s.body(), -1
	}
	return response, err
}

func bodyOf(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
