package rig

import (
	"context"
	"log"
	"sync"
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// Client is a client of the core group alone: tests that need no other do not link those of
// all groups.
type Client struct{ core *corev1client.CoreV1Client }

// NewClient returns a client.
func NewClient(config *rest.Config) (Client, error) {
	core, err := corev1client.NewForConfig(config)
	return Client{core}, err
}

// CoreV1 is the method of the same name of a kubernetes.Clientset.
func (c Client) CoreV1() corev1client.CoreV1Interface { return c.core }

// NewCluster starts an API server in memory that holds objs, for an example, and
// returns a client for it and the function that ends it.
func NewCluster(objs ...apitest.Object) (client Client, shutdown func() error) {
	srv, err := apitest.NewServer(apitest.WithObjects(objs...))
	if err != nil {
		log.Fatal(err)
	}
	client, err = NewClient(srv.Config())
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
