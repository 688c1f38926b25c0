package informers_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
)

// A lister has a Pod as soon as it was created, before the watch brings it.
func ExampleWithOwnWrites() {
	srv, err := apitest.NewServer()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	config := srv.Config()

	writes := kube.NewWrites()
	client, err := kubernetes.NewForConfig(writes.Config(config))
	if err != nil {
		panic(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithOwnWrites(writes))
	pods := factory.Core().V1().Pods().Lister().Pods("shop")
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.WaitForCacheSync(ctx.Done())

	srv.Inject(apitest.Fault{Lag: true}) // the watch is behind
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := client.CoreV1().Pods("shop").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		panic(err)
	}
	web, err := pods.Get("web")
	fmt.Println(web.Name, err)
	// Output:
	// web <nil>
}
