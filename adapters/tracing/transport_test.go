package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// headers notes the traces of requests as they are sent.
type headers struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent map[string]string // guarded by mu; traceparent by method and path
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.sent[strings.Join([]string{r.Method, r.URL.Path, r.URL.Query().Get("watch")}, " ")] = r.Header.Get("Traceparent")
	h.mu.Unlock()
	return h.next.RoundTrip(r)
}

// TestTransport: when a controller makes a Pod for a ConfigMap, its requests to the API server have
// the trace of the event, and those of informers have none.
func TestTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		config, sent := srv.Config(), &headers{sent: map[string]string{}}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			sent.next = next
			return sent
		})
		r := newRig(t)
		config = tracing.Transport(r.tracer, config)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		src, events := tracing.Source(r.tracer, kube.FromREST[*corev1.ConfigMap](config))
		maps := typed.NewInformer(src)
		_, err = maps.Handle(tracing.Enqueue(events, r.keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
			return control.Enqueue[*corev1.ConfigMap](q)
		}))
		require.NoError(t, err)
		running(t, func(ctx context.Context) error {
			return control.Run(ctx, control.WithInformers(maps), control.WithWorkers(r.keys, 1, func(ctx context.Context, key index.Key) error {
				_, err := client.CoreV1().Pods(key.Namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}, metav1.CreateOptions{})
				_, missing := client.CoreV1().Secrets(key.Namespace).Get(ctx, "none", metav1.GetOptions{})
				return queue.TerminalError(errors.Join(err, missing))
			}))
		})
		require.NoError(t, maps.WaitForSync(t.Context()))
		require.NoError(t, srv.WaitForWatches(t.Context(), "configmaps", 1))
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), newMap("a", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()

		require.Equal(t, []string{"receive ConfigMap", "  handle ConfigMap", "    queue maps", "    reconcile maps", "      HTTP GET", "      HTTP POST", "  store"}, r.spans())
		trace := r.find("receive ConfigMap").SpanContext.TraceID().String()
		for request, traced := range map[string]string{
			"POST /api/v1/namespaces/default/pods ":        "HTTP POST",
			"GET /api/v1/namespaces/default/secrets/none ": "HTTP GET",
		} {
			assert.Equal(t, fmt.Sprintf("00-%s-%s-01", trace, r.find(traced).SpanContext.SpanID()), sent.sent[request], request)
		}
		for request, header := range sent.sent {
			if strings.Contains(request, "configmaps") {
				assert.Empty(t, header, request)
			}
		}
		assert.Contains(t, r.find("reconcile maps").Status.Description, `secrets "none" not found`)
		require.Len(t, r.find("reconcile maps").Events, 1, "the error is recorded")
	})
}
