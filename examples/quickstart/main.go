// Command quickstart shows what an informer does, on a cluster that it brings
// along: an API server in memory with some thousand Pods that change all the
// time. It lists and watches Pods and Nodes, indexes the Pods, computes the load of
// Nodes from them, counts events, and prints how long it took to sync, what look-ups
// cost, how soon a write shows in reads, the events of each second, and the state at
// the end.
//
//	go run ./examples/quickstart [flags]
//
//	-duration 5s       how long to count events
//	-timeout 30s       how long to wait for the informers to sync
//	-pods 5000         Pods in the server in memory
//	-rate 800          changes of Pods a second in the server in memory
//	-kubeconfig FILE   use a real cluster instead, and write nothing to it
//	-context NAME      use this context of the kubeconfig
//
// With -context alone, the kubeconfig is the one that kubectl would use.
// Ctrl-C ends it at any time.
//
// Begin to read at the function watch.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/view"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // errors still go to stderr

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// watch runs informers on the cluster, and shows what they can do.
func watch(ctx context.Context, c *cluster, opts options, out *printer) error {
	// An informer keeps a copy of the objects that it lists and watches.
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](c.config), typed.WithName("pods"))
	nodes := typed.NewInformer(kube.FromREST[*corev1.Node](c.config), typed.WithName("nodes"))

	// An index finds objects by whatever a function computes from them. It is
	// the handle for look-ups, too.
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" })
	byApp := index.Labels[*corev1.Pod]("app", "app.kubernetes.io/name", "k8s-app")
	if err := pods.AddIndexes(byNode, byApp); err != nil {
		return err
	}

	// A view is computed from other informers, and kept up to date at the cost of what
	// changes: here, how many Pods of each Node run. It is an informer as any other.
	perNode := typed.NewInformer(loads(view.Of(pods)), typed.WithName("load"))

	// A handler is called for every change, one call at a time.
	var seen counts
	counter, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(_ *corev1.Pod, initial bool) {
			if initial {
				seen.initial.Add(1)
			} else {
				seen.added.Add(1)
			}
		},
		UpdateFunc: func(_, _ *corev1.Pod) { seen.updated.Add(1) },
		DeleteFunc: func(typed.Deleted[*corev1.Pod]) { seen.deleted.Add(1) },
	}, typed.WithHandlerName("count by type"))
	if err != nil {
		return err
	}

	// Everything that runs has an owner that waits for it, and ends with ctx.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pods.Run(ctx) })
	group.Go(func() error { return nodes.Run(ctx) })
	group.Go(func() error { return perNode.Run(ctx) })
	group.Go(func() error {
		// The same events as a range, with the objects before and after.
		for e := range pods.Events(ctx, typed.WithHandlerName("phase changes")).All() {
			if e.Type == index.Updated && e.Old.Status.Phase != e.New.Status.Phase {
				seen.phases.Add(1)
			}
		}
		return nil
	})
	group.Go(func() error {
		defer stop()

		// Wait for the first list. The error says why it does not come.
		syncing, cancel := context.WithTimeout(ctx, opts.timeout)
		defer cancel()
		progress := out.syncing(pods.Status, nodes.Status)
		err := errors.Join(pods.WaitForSync(syncing), nodes.WaitForSync(syncing))
		progress.stop()
		if err != nil {
			return err
		}
		out.synced(progress.elapsed(), pods.Len(), nodes.Len())
		if err := counter.WaitForSync(syncing); err != nil {
			return err
		}
		out.handled(progress.elapsed(), &seen)
		if err := perNode.WaitForSync(syncing); err != nil {
			return err
		}
		out.computed(progress.elapsed(), perNode.Len())

		// From now on the cluster changes all the time.
		group.Go(func() error { return c.churn(ctx) })

		// Read: by key, by index, with a selector, and by both at the same time.
		node, app := busiest(byNode), busiest(byApp)
		selector := labels.SelectorFromSet(labels.Set{app.Key: app.Value})
		out.lookups()
		out.got(index.Key{Name: node}, nodes.Get)
		out.found("index", "on "+node, byNode.All(node))
		out.found("lister", selector.String(), lister.New(pods).All(selector))
		out.found("join", "both", index.Intersect(byNode.Is(node), byApp.Is(app)))
		out.gotLoad(index.Key{Name: node}, perNode.Get)

		// Wait until reads reflect what was written, here or elsewhere.
		version, err := out.version(ctx, c)
		if err != nil {
			return err
		}
		if err := out.reached(ctx, version, pods.WaitForResourceVersion); err != nil {
			return err
		}

		if err := out.events(ctx, opts.duration, &seen, pods.Len, counter.Backlog); err != nil {
			return err
		}
		out.status(pods.Status(), nodes.Status(), perNode.Status())
		return nil
	})
	return group.Wait()
}
