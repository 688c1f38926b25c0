package kube_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// A program reads what it has written, though the watch lags.
func ExampleWithWrites() {
	srv, err := apitest.NewServer()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	writes := kube.NewWrites()
	client, err := kubernetes.NewForConfig(writes.Config(srv.Config()))
	if err != nil {
		log.Fatal(err)
	}
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll), kube.WithWrites(writes)))
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	srv.Inject(apitest.Fault{Lag: true})

	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}}
	if _, err := client.CoreV1().Pods("shop").Create(ctx, web, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	_, found := pods.Get(index.Key{Namespace: "shop", Name: "web-0"})
	fmt.Println("found:", found, "ahead:", pods.Status().Ahead.Keys)
	// Output:
	// found: true ahead: 1
}
