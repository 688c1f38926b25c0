package rig

import (
	"context"
	"log"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/typed/typedtest"
)

// NewCluster starts an API server in memory that holds objs, for an example, and
// returns a client for it and the function that ends it.
func NewCluster(objs ...typedtest.Object) (client *kubernetes.Clientset, shutdown func() error) {
	srv, err := typedtest.NewServer(typedtest.WithObjects(objs...))
	if err != nil {
		log.Fatal(err)
	}
	client, err = kubernetes.NewForConfig(srv.Config())
	if err != nil {
		log.Fatal(err)
	}
	return client, srv.Close
}

// RunInBackground calls run, which is the method of an informer, until stop is
// called, which waits for it. The context ends by then, or when that took more
// than a minute.
func RunInBackground(run func(context.Context) error) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil {
			log.Print(err)
		}
	})
	return ctx, func() {
		cancel()
		running.Wait()
	}
}
