// Package demo runs an example on the cluster of a kubeconfig or, without one, on an
// API server in memory with a few objects, in which a Pod comes and goes.
package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
)

// Run is what an example does until ctx ends.
type Run func(ctx context.Context, config *rest.Config, out io.Writer) error

// Main is the main function of an example. It ends with Ctrl-C, or after -for.
func Main(run Run) {
	kubeconfig := flag.String("kubeconfig", "", "use the cluster of this `file` instead of one in memory")
	duration := flag.Duration("for", 10*time.Second, "how long to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	if err := start(ctx, *kubeconfig, run, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(ctx context.Context, kubeconfig string, run Run, out io.Writer) error {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		return run(ctx, config, out)
	}
	srv, err := NewServer()
	if err != nil {
		return err
	}
	changing := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() { changing <- change(ctx, srv) }()
	err = run(ctx, srv.Config(), out)
	stop()
	return errors.Join(err, <-changing, srv.Close())
}

// change creates and deletes a Pod, again and again.
func change(ctx context.Context, srv *apitest.Server) error {
	pod := Pod("visitor", "node-b", "10.0.0.9")
	for {
		for _, write := range []func(context.Context, ...apitest.Object) error{srv.Create, srv.Delete} {
			if err := write(ctx, pod); err != nil && ctx.Err() == nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
		}
	}
}

// NewServer starts an API server in memory with two Nodes and three Pods of a
// ReplicaSet behind a Service.
func NewServer() (*apitest.Server, error) {
	web := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web-uid"}}
	objects := []apitest.Object{
		node("node-a", "a"), node("node-b", "b"), web,
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
			Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"}, Selector: map[string]string{"app": "web"}},
		},
	}
	for i, on := range []string{"node-a", "node-a", "node-b"} {
		pod := Pod(fmt.Sprint("web-", i), on, fmt.Sprint("10.0.0.", i+1))
		pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: fmt.Sprint("fd00::", i+1)})
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(web, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		objects = append(objects, pod)
	}
	return apitest.NewServer(apitest.WithObjects(objects...))
}

// Pod returns a running Pod of the application web.
func Pod(name, node, ip string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
}

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
}
