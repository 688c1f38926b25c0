//go:debug randseednop=0
package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
)

// namespaces are those of the Pods.
var namespaces = []string{"blue", "green", "red"}

func newPod(namespace, name string, value int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"value": fmt.Sprint(value)}}}
}

// writePods creates, changes and deletes some Pods, of which there are never more than
// a few, so that one name has many objects.
func writePods(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	for range 1 + random.IntN(8) {
		namespace := namespaces[random.IntN(len(namespaces))]
		pods, name := client.CoreV1().Pods(namespace), fmt.Sprint("web-", random.IntN(4))
		var err error
		switch random.IntN(4) {
		case 0:
			_, err = pods.Create(ctx, newPod(namespace, name, random.IntN(5)), metav1.CreateOptions{})
		case 1:
			_, err = pods.Update(ctx, newPod(namespace, name, random.IntN(5)), metav1.UpdateOptions{})
		case 2:
			err = pods.Delete(ctx, name, metav1.DeleteOptions{})
		case 3: // the same name, another object
			if err = pods.Delete(ctx, name, metav1.DeleteOptions{}); err == nil {
				_, err = pods.Create(ctx, newPod(namespace, name, random.IntN(5)), metav1.CreateOptions{})
			}
		}
		if err := except(err, apierrors.IsAlreadyExists, apierrors.IsNotFound); err != nil {
			return err
		}
	}
	return nil
}

// writeManyPods is writePods, and now and then creates and deletes more Pods at once than
// a watch has room for.
func writeManyPods(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	if random.IntN(30) > 0 {
		return writePods(ctx, client, random)
	}
	pods := client.CoreV1().Pods(namespaces[random.IntN(len(namespaces))])
	for n := range 100 {
		if _, err := pods.Create(ctx, newPod("", fmt.Sprint("many-", n), random.IntN(5)), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{})
}

// except returns an error unless it is one of those that are expected.
func except(err error, expected ...func(error) bool) error {
	for _, is := range expected {
		if is(err) {
			return nil
		}
	}
	return err
}

// sameAsServer returns how Pods differ from those of the server.
func sameAsServer(now simulation.State, name string, pods []*corev1.Pod) error {
	return differences(history.Diff("the server", simulation.Objects[*corev1.Pod](now), name, pods))
}

func differences(texts []string) error {
	var errs []error
	for _, text := range texts {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}
