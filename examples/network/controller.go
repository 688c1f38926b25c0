package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// controller keeps the status of each Network up to date.
type controller struct {
	informer *typed.Informer[*Network]
	writer   *kube.Writer[*Network]
	queue    *queue.WorkQueue[index.Key]
}

func newController(config *rest.Config) (*controller, error) {
	resource, writes := kube.WithResource(networks), kube.NewWrites()
	config = writes.Config(config) // so that the informer has what the writer writes
	writer, err := kube.NewWriter[*Network](config, resource)
	if err != nil {
		return nil, err
	}
	q, err := queue.NewWorkQueue[index.Key](queue.WithName("networks"))
	if err != nil {
		return nil, err
	}
	c := &controller{informer: typed.NewInformer(kube.FromREST[*Network](config, resource, kube.WithWrites(writes))), writer: writer, queue: q}
	_, err = c.informer.Handle(control.Enqueue[*Network](q))
	return c, err
}

// run works until ctx ends, and what waits has been processed.
func (c *controller) run(ctx context.Context) error {
	return control.Run(ctx, control.WithInformers(c.informer), control.WithWorkers(c.queue, 2, c.reconcile))
}

// reconcile sets the status of a Network. If another client has changed the Network
// since the informer saw it, the patch is a conflict, and the queue tries the key again.
func (c *controller) reconcile(ctx context.Context, key index.Key) error {
	network, ok := c.informer.Get(key)
	if !ok || network.DeletionTimestamp != nil {
		return nil
	}
	updated := kube.Copy(network) // what the informer has is not to be modified
	updated.Status = network.Spec.status()
	_, err := c.writer.MergePatch(ctx, network, updated, metav1.PatchOptions{}, "status")
	return err
}
