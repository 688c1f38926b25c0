package proxy_test

import (
	"context"
	"fmt"
	"log"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/e2e/proxy"
)

func Example() {
	ctx := context.Background()
	server, err := apitest.NewServer() // or a real one
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	p, err := proxy.Start(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	client, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		log.Fatal(err)
	}

	// One list is refused.
	p.Inject(proxy.Fault{Verb: "list", Resource: "pods", Times: 1, Err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)})
	_, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	fmt.Println("forbidden:", apierrors.IsForbidden(err))

	// A watch breaks off.
	w, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.WaitFor(ctx, func() bool { return p.Watches("pods") == 1 }); err != nil {
		log.Fatal(err)
	}
	fmt.Println("cut:", p.CutWatches("pods", proxy.Abrupt))
	for e := range w.ResultChan() {
		fmt.Println(e.Type)
	}
	// Output:
	// forbidden: true
	// cut: 1
	// ERROR
}
