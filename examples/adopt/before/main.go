// Command before is an ordinary program on client-go: a factory of shared informers, an index,
// a handler that queues the names of Nodes, a worker that counts the Pods of each, and a
// lister. The program in the folder after differs in one line.
//
//	go run ./examples/adopt/before [-kubeconfig FILE]
//
// Without -kubeconfig it brings along an API server in memory, from which it
// deletes the Pods of a Node; with it, it only reads. It ends when it has seen
// everything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/examples/adopt/internal/demo"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "use this cluster, and only read from it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, out io.Writer) (err error) {
	config, closeServer, err := demo.Config(kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	if err := pods.AddIndexers(cache.Indexers{
		"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	}); err != nil {
		return err
	}

	queue := workqueue.NewTyped[string]()
	enqueue := func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		queue.Add(obj.(*corev1.Pod).Spec.NodeName)
	}
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, updated any) { enqueue(updated) },
		DeleteFunc: enqueue,
	})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer factory.Shutdown()
	defer queue.ShutDown()
	defer stop()
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, registration.HasSynced) {
		return fmt.Errorf("the Pods did not sync: %w", context.Cause(ctx))
	}
	emptied := make(chan string, 1)
	running.Go(func() { work(queue, pods.GetIndexer(), emptied) })

	if err := report(out, pods.GetIndexer()); err != nil || kubeconfig != "" {
		return err
	}
	if err := demo.Drain(ctx, client); err != nil {
		return err
	}
	select {
	case node := <-emptied:
		fmt.Fprintf(out, "%s was drained\n", node)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return report(out, pods.GetIndexer())
}

// work looks for Nodes that have no Pods any more.
func work(queue workqueue.TypedInterface[string], pods cache.Indexer, emptied chan<- string) {
	for {
		node, shutdown := queue.Get()
		if shutdown {
			return
		}
		if found, err := pods.ByIndex("node", node); err == nil && len(found) == 0 {
			select {
			case emptied <- node:
			default: // one is enough
			}
		}
		queue.Done(node)
	}
}

// report prints how many Pods there are, and where.
func report(out io.Writer, pods cache.Indexer) error {
	all, err := corev1listers.NewPodLister(pods).List(labels.Everything())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d Pods\n", len(all))
	nodes := pods.ListIndexFuncValues("node")
	slices.Sort(nodes)
	for _, node := range nodes {
		found, err := pods.ByIndex("node", node)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %d on %s\n", len(found), node)
	}
	return nil
}
