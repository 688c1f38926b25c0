package apitest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
)

// fullPod returns a Pod about as large as those of a cluster.
func fullPod(name string) *corev1.Pod {
	p := pod(name)
	p.Labels, p.Annotations = map[string]string{}, map[string]string{}
	for i := range 10 {
		p.Labels[fmt.Sprintf("app.example.com/label-%d", i)] = "some-value-of-a-label"
		p.Annotations[fmt.Sprintf("app.example.com/annotation-%d", i)] = "some value of an annotation, a little longer than that of a label"
	}
	container := p.Spec.Containers[0]
	for i := range 40 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: "value of a variable of the environment"})
	}
	p.Spec.Containers = []corev1.Container{container, container}
	p.Status.Phase = corev1.PodRunning
	return p
}

func BenchmarkCreate(b *testing.B) {
	s := apitest.Start(b)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Create(b.Context(), fullPod(fmt.Sprintf("p%08d", i))); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkListTwentyThousand(b *testing.B) {
	s := apitest.Start(b)
	for i := range 20_000 {
		require.NoError(b, s.Create(b.Context(), fullPod(fmt.Sprintf("p%08d", i))))
	}
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		b.Run(contentType, func(b *testing.B) {
			cfg := s.Config()
			cfg.ContentType = contentType
			client, err := kubernetes.NewForConfig(cfg)
			require.NoError(b, err)
			for b.Loop() {
				list := client.CoreV1().RESTClient().Get().Resource("pods").Do(b.Context())
				if err := list.Error(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatch measures one update from Server.Update to ten watches.
func BenchmarkWatch(b *testing.B) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		b.Run(contentType, func(b *testing.B) {
			s := apitest.Start(b)
			cfg := s.Config()
			cfg.ContentType = contentType
			client, err := kubernetes.NewForConfig(cfg)
			require.NoError(b, err)
			p := fullPod("p")
			require.NoError(b, s.Create(b.Context(), p))
			done := make(chan int, 10)
			for range cap(done) {
				w, err := client.CoreV1().Pods("").Watch(b.Context(), metav1.ListOptions{ResourceVersion: s.ResourceVersion()})
				require.NoError(b, err)
				defer w.Stop()
				go func() {
					n := 0
					for range w.ResultChan() {
						n++
						done <- n
					}
				}()
			}
			i := 0
			for b.Loop() {
				p.Labels["n"] = fmt.Sprint(i)
				if err := s.Update(b.Context(), p); err != nil {
					b.Fatal(err)
				}
				for range cap(done) {
					<-done
				}
				i++
			}
		})
	}
}
