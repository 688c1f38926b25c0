package metrics_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/kube"
)

// All informers of a factory, and a queue. A program gives promhttp.Handler to its HTTP
// server, or has it already.
func ExampleNew() {
	ctx := context.Background()
	server, err := apitest.NewServer()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	if err := server.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}); err != nil {
		log.Fatal(err)
	}
	factory := kube.NewFactory(server.Config())
	defer factory.Shutdown()

	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	m, err := metrics.New(registry, metrics.WithFactories(factory))
	if err != nil {
		log.Fatal(err)
	}
	q, err := queue.NewWorkQueue[index.Key](queue.WithName("pods"), queue.WithMetrics(m))
	if err != nil {
		log.Fatal(err)
	}
	defer q.ShutDown()
	if err := m.Add(metrics.WithQueues(q)); err != nil {
		log.Fatal(err)
	}

	pods, err := kube.For[*corev1.Pod](factory)
	if err != nil {
		log.Fatal(err)
	}
	defer pods.Release()
	if err := factory.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	q.Add(index.Key{Namespace: "default", Name: "web-0"})

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		for _, name := range []string{"kubetyped_informer_objects", "kubetyped_queue_waiting_keys", "workqueue_depth"} {
			if metric := family.GetMetric()[0]; family.GetName() == name {
				labels := []string{}
				for _, l := range metric.GetLabel() {
					labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
				}
				fmt.Printf("%s{%s} %v\n", name, strings.Join(labels, ","), metric.GetGauge().GetValue())
			}
		}
	}
	// Output:
	// kubetyped_informer_objects{group="",kind="Pod"} 1
	// kubetyped_queue_waiting_keys{name="pods",priority="0"} 1
	// workqueue_depth{name="pods"} 1
}
