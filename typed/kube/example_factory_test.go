package kube_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// Two clusters, each with its own factory. Parts of a program that need the same informer each
// request it, and release it.
func ExampleFor() {
	clusters := map[string][]string{"east": {"web-0", "web-1"}, "west": {"web-0"}}
	factories := map[string]*kube.Factory{}
	for cluster, names := range clusters {
		srv, err := apitest.NewServer()
		if err != nil {
			log.Fatal(err)
		}
		defer srv.Close()
		for _, name := range names {
			if err := srv.Create(context.Background(), rig.NewPod(name, cluster+"-node")); err != nil {
				log.Fatal(err)
			}
		}
		factories[cluster] = kube.NewFactory(srv.Config(), kube.WithoutFields("metadata.managedFields"))
		defer factories[cluster].Shutdown()
	}

	pods := map[string]*typed.SharedInformer[*corev1.Pod]{}
	for cluster, factory := range factories {
		shared, err := kube.For[*corev1.Pod](factory, kube.WithInformerOptions(typed.WithName("pods of "+cluster)))
		if err != nil {
			log.Fatal(err)
		}
		defer shared.Release()
		pods[cluster] = shared
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, factory := range factories {
		if err := factory.WaitForSync(ctx); err != nil {
			log.Fatal(err)
		}
	}
	for _, cluster := range []string{"east", "west"} {
		fmt.Println(pods[cluster].Name(), pods[cluster].Len())
	}
	// Output:
	// pods of east 2
	// pods of west 1
}
