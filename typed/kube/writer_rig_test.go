package kube_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

var (
	tunnelResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tunnels"}
	regionResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "regions"}
)

// tunnel is a custom resource with all its fields, and no generated code.
type tunnel struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Remote string   `json:"remote,omitempty"`
		Size   int64    `json:"size,omitempty"`
		Ports  []int32  `json:"ports,omitempty"`
		Key    *keySpec `json:"key,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
		Phase      string             `json:"phase,omitempty"`
	} `json:"status"`
}

type keySpec struct {
	Secret string `json:"secret,omitempty"`
	Days   int    `json:"days,omitempty"`
}

func newTunnel(name string) *tunnel {
	obj := &tunnel{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	obj.Spec.Remote = "10.0.0.1"
	return obj
}

// recorded are the requests that a client has made, but those for discovery.
type recorded struct {
	mu       sync.Mutex
	asked    int // requests for discovery
	requests []*http.Request
	bodies   []string
	answer   func(*http.Request) *http.Response // nil, or returning nil: the server's
}

func (r *recorded) config(srv *apitest.Server) *rest.Config {
	config := srv.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if strings.Count(request.URL.Path, "/") <= 3 && request.Method == http.MethodGet {
				r.asked++
				return base.RoundTrip(request)
			}
			var body []byte
			if request.Body != nil {
				var err error
				if body, err = io.ReadAll(request.Body); err != nil {
					return nil, err
				}
				request.Body = io.NopCloser(strings.NewReader(string(body)))
			}
			r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
			if r.answer != nil {
				if response := r.answer(request); response != nil {
					return response, nil
				}
			}
			return base.RoundTrip(request)
		})
	})
	return config
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (r *recorded) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// startForWrites starts a server with custom resources.
func startForWrites(t *testing.T) (*apitest.Server, *recorded) {
	srv := apitest.Start(t, apitest.WithResources(
		apitest.Resource{GroupVersionResource: tunnelResource, Kind: "Tunnel", Status: true},
		apitest.Resource{GroupVersionResource: regionResource, Kind: "Region", ClusterScoped: true},
	))
	return srv, &recorded{}
}

func newWriter[T index.Object](t *testing.T, config *rest.Config, opts ...kube.WriterOption) *kube.Writer[T] {
	t.Helper()
	w, err := kube.NewWriter[T](config, opts...)
	require.NoError(t, err)
	return w
}
