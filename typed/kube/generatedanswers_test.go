package kube

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// warnings are a rest.WarningHandler.
type warnings struct {
	mu   sync.Mutex
	seen []string // guarded by mu
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, text)
}

// TestWarningsGoToTheClientsHandler: the handler of a clientset's configuration receives warnings
// about requests that are made in place of its generated clients.
func TestWarningsGoToTheClientsHandler(t *testing.T) {
	t.Parallel()
	handler := &warnings{}
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: "http://example.com/prefix", WarningHandler: handler, Transport: transport(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, "/prefix/api/v1/pods", r.URL.Path)
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`)), Header: http.Header{
			"Content-Type": {"application/json"},
			"Warning":      {`299 - "v1 Pod is old"`},
		}}, nil
	})})
	require.NoError(t, err)
	lw, err := NewDecodingClient(clientset.CoreV1().Pods(metav1.NamespaceAll), nil)
	require.NoError(t, err)
	_, err = lw.List(metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"v1 Pod is old"}, handler.seen)
}

// TestEmptyObjectIsAnEmptyList: {} is an empty list, as client-go's generated client reads it, while
// another object without a kind and items, such as a proxy's message, is an error.
func TestEmptyObjectIsAnEmptyList(t *testing.T) {
	t.Parallel()
	answer := `{}`
	config := &rest.Config{Host: "http://example.com", Transport: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(answer)),
			Header: http.Header{"Content-Type": {"application/json"}},
		}, nil
	})}
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	want, err := clientset.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	lw, err := NewDecodingClient(clientset.CoreV1().Pods(""), nil)
	require.NoError(t, err)
	list, err := lw.List(metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, len(want.Items), meta.LenList(list))
	answer = `{"message":"sign in"}`
	_, err = lw.List(metav1.ListOptions{})
	require.ErrorContains(t, err, "neither items nor a kind")
}
