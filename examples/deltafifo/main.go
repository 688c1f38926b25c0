// Command deltafifo builds an informer from its parts by hand: a watch that fills a queue of
// changes, and a loop that applies them to a store. Programs do not need to; it shows which
// part does what.
//
//	go run ./examples/deltafifo [-kubeconfig FILE]
package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

func main() { demo.Main(run) }

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	deltas := queue.NewDeltaFIFO[*corev1.Pod]()
	produced := make(chan error, 1)
	go func() {
		defer deltas.Close() // the loop below ends when it has taken what is left
		produced <- listAndWatch(ctx, client, deltas)
	}()
	store := index.NewIndexer[*corev1.Pod]()
	for {
		batch, err := deltas.Take(context.Background())
		if err != nil {
			return <-produced
		}
		for _, d := range batch {
			for _, e := range apply(store, d) {
				fmt.Fprintf(out, "%s %s, %d in the store\n", e.Type, e.Key().Name, store.Len())
			}
		}
	}
}

// listAndWatch lists the Pods once, and then watches them until ctx ends.
func listAndWatch(ctx context.Context, client kubernetes.Interface, deltas *queue.DeltaFIFO[*corev1.Pod]) error {
	pods := client.CoreV1().Pods("default")
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	all := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	deltas.Replace(queue.List[*corev1.Pod]{Objects: all}, list.ResourceVersion)

	w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if ctx.Err() != nil {
			return nil // the last event may be of that
		}
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("the watch brought a %T", e.Object) // an informer would list again
		}
		switch e.Type {
		case watch.Added, watch.Modified:
			deltas.Put(pod, pod.ResourceVersion)
		case watch.Deleted:
			deltas.Delete(pod, pod.ResourceVersion)
		}
	}
	return nil
}

// apply makes a change, and returns what has come of it.
func apply(store *index.Indexer[*corev1.Pod], d queue.Delta[*corev1.Pod]) []index.Event[*corev1.Pod] {
	if d.Type == queue.Replace {
		return store.Replace(nil, d.List.Objects, d.ResourceVersion, index.Initial)
	}
	change := index.Change[*corev1.Pod]{Object: d.Object, Delete: d.Type == queue.Delete, Reason: index.Watched}
	return store.Apply(nil, []index.Change[*corev1.Pod]{change}, d.ResourceVersion)
}
