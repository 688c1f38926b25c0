package apitest_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
)

// A scheduler binds a Pod, and a drain of its node is refused, since a budget allows no disruption.
func Example_scheduling() {
	ctx := context.Background()
	web := metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}}
	srv, err := apitest.NewServer(apitest.WithObjects(
		&corev1.Pod{ObjectMeta: web, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		&policyv1.PodDisruptionBudget{
			ObjectMeta: web,
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: web.Labels}},
			Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DesiredHealthy: 1},
		},
	))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client, err := kubernetes.NewForConfig(srv.Config())
	if err != nil {
		log.Fatal(err)
	}

	pods, named := client.CoreV1().Pods("shop"), metav1.ObjectMeta{Name: "web"}
	node := corev1.ObjectReference{Kind: "Node", Name: "n1"}
	if err := pods.Bind(ctx, &corev1.Binding{ObjectMeta: named, Target: node}, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	pod, err := pods.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("on node", pod.Spec.NodeName)

	err = pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: named})
	cause, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
	fmt.Println(cause.Message)
	// Output:
	// on node n1
	// The disruption budget web needs 1 healthy pods and has 0 currently
}
