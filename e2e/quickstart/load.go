package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/e2e/workload"
)

// load is what the cluster is filled with.
type load struct {
	crew                    workload.Crew
	pods, namespaces, nodes int
}

// validate returns an error if a number is invalid.
func (l load) validate() error {
	for _, number := range []struct {
		name  string
		value int
	}{{"pods", l.pods}, {"namespaces", l.namespaces}, {"nodes", l.nodes}, {"workers", l.crew.Workers}} {
		if number.value < 1 {
			return fmt.Errorf("-%s must be positive, not %d", number.name, number.value)
		}
	}
	return nil
}

// objects returns what makes the objects.
func (l load) objects() workload.Objects {
	objects := workload.Objects{Nodes: l.nodes}
	for i := range l.namespaces {
		objects.Namespaces = append(objects.Namespaces, fmt.Sprintf("team-%02d", i))
	}
	return objects
}

// create creates all of it, and reports how far it is every second.
func (l load) create(ctx context.Context, client kubernetes.Interface) error {
	objects := l.objects()
	namespace := func(i int) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: objects.Namespaces[i]}}
	}
	namespaces := func(string) corev1client.NamespaceInterface { return client.CoreV1().Namespaces() }
	if err := workload.Create(ctx, l.crew, "namespaces", l.namespaces, namespace, namespaces); err != nil {
		return err
	}
	nodes := func(string) corev1client.NodeInterface { return client.CoreV1().Nodes() }
	if err := workload.Create(ctx, l.crew, "Nodes", l.nodes, objects.Node, nodes); err != nil {
		return err
	}
	return objects.CreatePods(ctx, l.crew, l.pods, client.CoreV1().Pods)
}
