package kube_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
)

// newerPod names a field that client-go's Pod does not have.
type newerPod struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		NodeName string `json:"nodeName"`
		Color    string `json:"color"`
	} `json:"spec"`
}

// kindPod declares the kind.
type kindPod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Status *struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// namedPod embeds its metadata by a name, in a type that is not exported.
type namedPod struct {
	namedMetadata `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

type namedMetadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	ResourceVersion string            `json:"resourceVersion"`
	Labels          map[string]string `json:"labels"`
}

func (m *namedMetadata) GetName() string            { return m.Name }
func (m *namedMetadata) GetNamespace() string       { return m.Namespace }
func (m *namedMetadata) GetResourceVersion() string { return m.ResourceVersion }

// TestFieldsOfNamedMetadata: masks know the fields of a struct that is embedded by a name.
func TestFieldsOfNamedMetadata(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1")))
	for _, format := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		for _, opt := range []kube.SourceOption{kube.WithFields("spec.nodeName"), kube.WithoutFields("metadata.labels")} {
			assert.Equal(t, format, typeOf[*namedPod](t, srv, format, func(pod *namedPod) {
				assert.Equal(t, "a", pod.Name)
				assert.Empty(t, pod.Labels)
				assert.Equal(t, "node-1", pod.Spec.NodeName)
			}, opt, kube.WithResource(podResource)))
		}
	}
}

// TestOwnStructsComeInProtobuf: a struct of the user's own is asked for in protobuf if
// the kind has that and the struct nothing else, and the configuration does not say
// otherwise.
func TestOwnStructsComeInProtobuf(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1")))
	for _, opts := range [][]kube.SourceOption{{}, {kube.WithoutWatchList()}} {
		opts = append(opts, kube.WithResource(podResource))
		assert.Equal(t, runtime.ContentTypeProtobuf, typeOf[*slimPod](t, srv, "", func(pod *slimPod) {
			assert.Equal(t, "node-1", pod.Spec.NodeName)
		}, opts...))
		assert.Equal(t, runtime.ContentTypeJSON, typeOf[*slimPod](t, srv, runtime.ContentTypeJSON, func(pod *slimPod) {
			assert.Equal(t, "node-1", pod.Spec.NodeName)
		}, opts...))
		assert.Equal(t, runtime.ContentTypeJSON, typeOf[*newerPod](t, srv, "", func(pod *newerPod) {
			assert.Equal(t, "node-1", pod.Spec.NodeName)
		}, opts...))
		assert.Equal(t, runtime.ContentTypeProtobuf, typeOf[*kindPod](t, srv, "", func(pod *kindPod) {
			assert.Empty(t, pod.Kind)
			assert.NotNil(t, pod.Status)
		}, opts...))
		assert.Equal(t, runtime.ContentTypeProtobuf, typeOf[*kindPod](t, srv, "", func(pod *kindPod) {
			assert.Equal(t, "Pod", pod.Kind)
			assert.Nil(t, pod.Status)
			assert.Equal(t, "a", pod.Name)
		}, append(opts, kube.WithTypeMeta(), kube.WithFields("metadata.labels"))...))
	}
}

// typeOf runs a source, has its Pod checked, and returns the media type that it came in.
func typeOf[T index.Object](t *testing.T, srv *apitest.Server, contentType string, check func(T), opts ...kube.SourceOption) string {
	t.Helper()
	got := &answers{}
	config := rest.CopyConfig(srv.Config())
	config.ContentType = contentType
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { got.RoundTripper = base; return got })
	m := mirrored(t, kube.FromREST[T](config, opts...))
	m.waitForSync(t)
	check(m.get(t, index.Key{Namespace: "default", Name: "a"}).(T))
	got.mu.Lock()
	defer got.mu.Unlock()
	return got.last
}

// answers notes the media type of what objects come in.
type answers struct {
	http.RoundTripper
	mu   sync.Mutex
	last string // guarded by mu
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Path == "/api/v1/pods" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.last, _, _ = strings.Cut(response.Header.Get("Content-Type"), ";")
	}
	return response, err
}
