package kube_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/pods"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// putting is a transport that answers writes at once, so that the time is the client's.
type putting struct {
	http.RoundTripper
	text []byte
}

func (a putting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPut {
		return a.RoundTripper.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		Body: io.NopCloser(bytes.NewReader(a.text)), ContentLength: int64(len(a.text)), Request: r,
	}, nil
}

// BenchmarkOwnWrites updates a Pod of usual size, of which the server's part is left out: with
// a plain configuration, with that of a Writes which no informer follows, and with one that
// does, which decodes the answer and waits until reads have it.
func BenchmarkOwnWrites(b *testing.B) {
	for _, c := range []struct {
		name           string
		writes, follow bool
	}{{"plain", false, false}, {"nofollower", true, false}, {"on", true, true}} {
		b.Run("impl="+c.name, func(b *testing.B) {
			srv := apitest.Start(b)
			pod := (pods.Cluster{Namespaces: []string{"default"}, Nodes: 1}).Pod(1, 1)
			pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
			pod.ResourceVersion = "1000000"
			text, err := json.Marshal(pod)
			require.NoError(b, err)
			writes := kube.NewWrites()
			config := srv.Config()
			config.ContentType, config.QPS = runtime.ContentTypeJSON, -1
			config.Wrap(func(base http.RoundTripper) http.RoundTripper { return putting{base, text} })
			if c.writes {
				config = writes.Config(config)
			}
			client, err := kubernetes.NewForConfig(rest.CopyConfig(config))
			require.NoError(b, err)
			if c.follow {
				informer := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""), kube.WithWrites(writes)))
				ended := make(chan error, 1)
				go func() { ended <- informer.Run(b.Context()) }()
				b.Cleanup(func() { require.NoError(b, <-ended) })
				require.NoError(b, informer.WaitForSync(b.Context()))
			}
			api := client.CoreV1().Pods(pod.Namespace)
			b.ReportAllocs()
			for b.Loop() {
				var got *corev1.Pod
				if got, err = api.Update(b.Context(), pod, metav1.UpdateOptions{}); err != nil || got.Name != pod.Name {
					b.Fatal(err)
				}
			}
		})
	}
}
