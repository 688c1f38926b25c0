// Command release shows what is left of a cache that has stopped: its last state, until
// it is released, and then an error instead of "not found".
//
//	go run ./examples/release [-kubeconfig FILE]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func main() { demo.Main(run) }

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	// WithTypeMeta keeps the kind and version of objects, which clients drop.
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithTypeMeta()))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- pods.Run(running) }()
	synced := pods.WaitForSync(ctx)
	stop()
	if err := errors.Join(synced, <-ended); err != nil {
		return err
	}

	pod, found := pods.Get(index.Key{Namespace: "default", Name: "web-0"})
	fmt.Fprintln(out, "stopped:", pods.Status().Phase, found)
	if found {
		fmt.Fprintln(out, "kind:", pod.GroupVersionKind())
	}

	if err := pods.Release(); err != nil {
		return err
	}
	_, err := lister.New(pods).List(labels.Everything())
	fmt.Fprintln(out, "released:", errors.Is(err, index.ErrReleased))
	return nil
}
