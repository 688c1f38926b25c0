// Package demo is the cluster of the programs in before and after: a real one,
// or an API server in memory whose Pods move about.
package demo

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
)

// Pods and Nodes that the server in memory has.
const (
	Pods  = 600
	Nodes = 4
)

// Config returns how to reach the cluster of a kubeconfig, or without one that
// of a server in memory. The caller closes it.
func Config(kubeconfig string) (config *rest.Config, closeServer func() error, err error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		return config, func() error { return nil }, err
	}
	srv, err := apitest.NewServer()
	if err != nil {
		return nil, nil, err
	}
	for i := range Pods {
		if err := srv.Create(context.Background(), pod(i)); err != nil {
			return nil, nil, errors.Join(err, srv.Close())
		}
	}
	return srv.Config(), srv.Close, nil
}

func pod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%03d", i), Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%Nodes)},
	}
}

// Drain deletes the Pods of node-0, without waiting for the node, which is not there
// to stop them. It is for the server in memory.
func Drain(ctx context.Context, client kubernetes.Interface) error {
	for i := 0; i < Pods; i += Nodes {
		if err := client.CoreV1().Pods("shop").Delete(ctx, pod(i).Name, *metav1.NewDeleteOptions(0)); err != nil {
			return err
		}
	}
	return nil
}
