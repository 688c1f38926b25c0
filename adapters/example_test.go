package adapters_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/adapters"
)

// The factory gives everybody the typed informer, and nobody has to know.
func ExampleServe() {
	clientset := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	factory := informers.NewSharedInformerFactory(clientset, 0)
	if err := adapters.Serve(factory, clientset.CoreV1().Pods(metav1.NamespaceAll)); err != nil {
		panic(err)
	}

	lister := factory.Core().V1().Pods().Lister()
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	pods, err := lister.Pods("shop").List(labels.Everything())
	fmt.Println(len(pods), err)

	cancel()
	factory.Shutdown()
	// Output:
	// 1 <nil>
}
