// Command sharded runs a controller as three replicas that share the Pods of a cluster, and
// kills one of them: the other two take its share.
//
//	go run ./examples/sharded                    # on its own API server
//	go run ./examples/sharded -kubeconfig FILE   # on a cluster, with Leases in default
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "use the cluster of this `file` instead of one in memory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sharded:", err)
		os.Exit(1)
	}
}

// run shows a hand-over on a cluster, or on its own server.
func run(ctx context.Context, kubeconfig string, out io.Writer) (err error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		return show(ctx, config, out)
	}
	srv, err := apitest.NewServer(apitest.WithObjects(pods(300)...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	return show(ctx, srv.Config(), out)
}

func pods(n int) (all []apitest.Object) {
	for i := range n {
		all = append(all, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d", i)}})
	}
	return all
}

// replica is one process of the controller.
type replica struct {
	group      *shard.Group
	pods       *typed.Informer[*corev1.Pod]
	acquired   atomic.Int64 // objects that others had before
	reconciled atomic.Int64
	network    *network
	ended      chan error
	end        func()
}

// start starts a replica, which reconciles its share of the Pods.
func start(ctx context.Context, config *rest.Config, name string) (*replica, error) {
	r := &replica{network: &network{}, ended: make(chan error, 1)}
	config = r.network.through(config)
	group, err := shard.New(config, "default", "pods", shard.WithIdentity(name), shard.WithHash(shard.Key()),
		shard.WithLeaseDuration(3*time.Second))
	if err != nil {
		return nil, err
	}
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return nil, err
	}
	share := shard.NewSource(group, func() source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](config) })
	r.group, r.pods = group, typed.NewInformer(share)
	if _, err := r.pods.Handle(control.Enqueue[*corev1.Pod](q)); err != nil {
		return nil, err
	}
	if err := r.count(); err != nil {
		return nil, err
	}
	reconcile := func(_ context.Context, key index.Key) error {
		if share.Owns(key) { // a write would be made here
			r.reconciled.Add(1)
		}
		return nil
	}
	ctx, r.end = context.WithCancel(ctx)
	go func() {
		r.ended <- control.Run(ctx, control.WithInformers(group, r.pods), control.WithWorkers(q, 4, share.Reconcile(reconcile)))
	}()
	return r, nil
}

// count counts the objects that come from and go to others.
func (r *replica) count() error {
	_, err := r.pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(_ *corev1.Pod, initial bool) {
			if !initial { // nothing creates any here
				r.acquired.Add(1)
			}
		},
	})
	return err
}

// show runs three replicas, and kills one.
func show(ctx context.Context, config *rest.Config, out io.Writer) (err error) {
	replicas := []*replica{}
	defer func() { err = errors.Join(err, stop(replicas)) }()
	for _, name := range []string{"replica-a", "replica-b", "replica-c"} {
		r, err := start(ctx, config, name)
		if err != nil {
			return err
		}
		replicas = append(replicas, r)
	}
	if err := shared(ctx, replicas); err != nil {
		return err
	}
	print(out, "three replicas share the Pods", replicas)

	killed, rest := replicas[0], replicas[1:]
	killed.network.cut.Store(true) // it cannot even give up its Lease
	killed.end()
	if err := shared(ctx, rest); err != nil {
		return err
	}
	print(out, "replica-a was killed, and its Lease has expired", rest)
	for _, r := range rest {
		fmt.Fprintf(out, "  %s: took Pods of others: %t, reconciled keys: %t\n", r.group.Identity(), r.acquired.Load() > 0, r.reconciled.Load() > 0)
	}
	return nil
}

// shared waits until the replicas have all ranges, in equal shares.
func shared(ctx context.Context, replicas []*replica) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		ranges := 0
		for _, r := range replicas {
			s := r.group.Status()
			if s.Valid && s.Ranges <= 256/len(replicas)+1 && s.Leaving == 0 {
				ranges += s.Ranges
			}
		}
		if ranges == 256 {
			return sleep(ctx, time.Second) // their objects come
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func print(out io.Writer, what string, replicas []*replica) {
	fmt.Fprintln(out, what)
	total := 0
	for _, r := range replicas {
		fmt.Fprintf(out, "  %s: %d ranges of 256, %d Pods\n", r.group.Identity(), r.group.Status().Ranges, r.pods.Len())
		total += r.pods.Len()
	}
	fmt.Fprintf(out, "  together: %d Pods\n", total)
}

// stop ends all replicas. One that was killed may report that it could not leave.
func stop(replicas []*replica) error {
	var errs []error
	for _, r := range replicas {
		r.end()
		errs = append(errs, <-r.ended)
	}
	return errors.Join(errs...)
}
