package apitest_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
)

func ExampleNewServer() {
	ctx := context.Background()
	srv, err := apitest.NewServer()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	// Seed without HTTP, read with any client.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if err := srv.Create(ctx, node); err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(srv.Config())
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nodes.Items[0].Name, "at version", nodes.ResourceVersion)
	fmt.Println("lists:", srv.Requests("list", "nodes"))
	// Output:
	// n1 at version 2
	// lists: 1
}

func ExampleServer_Inject() {
	ctx := context.Background()
	srv, err := apitest.NewServer()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client, err := kubernetes.NewForConfig(srv.Config())
	if err != nil {
		log.Fatal(err)
	}

	srv.Inject(apitest.Fault{Verb: "get", Resource: "nodes", Times: 1, Err: apierrors.NewUnauthorized("who are you?")})
	for range 2 {
		_, err = client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
		fmt.Println(err)
	}
	// Output:
	// who are you?
	// nodes "n1" not found
}
