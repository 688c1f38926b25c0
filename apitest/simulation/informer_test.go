package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func pod(name string, value int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"value": fmt.Sprint(value)}}}
}

// writePods creates, changes and deletes some Pods.
func writePods(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	pods := client.CoreV1().Pods("shop")
	for range 1 + random.IntN(8) {
		name := fmt.Sprint("web-", random.IntN(6))
		var err error
		switch random.IntN(3) {
		case 0:
			_, err = pods.Create(ctx, pod(name, random.IntN(100)), metav1.CreateOptions{})
		case 1:
			_, err = pods.Update(ctx, pod(name, random.IntN(100)), metav1.UpdateOptions{})
		case 2:
			err = pods.Delete(ctx, name, metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func TestInformer(t *testing.T) { simulation.Run(t, defineInformer) }

func defineInformer(s *simulation.Simulation) {
	s.Start("informer", func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		informer := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
		told := history.New[*corev1.Pod]()
		if _, err := informer.Handle(told); err != nil {
			return err
		}
		simulation.Always(ctx, "the history is in order", func(simulation.State) error { return told.Err() })
		simulation.Eventually(ctx, "the informer has what the server has", 10*time.Minute, func(now simulation.State) error {
			var errs []error
			for _, d := range history.Diff("server", simulation.Objects[*corev1.Pod](now), "informer", informer.List()) {
				errs = append(errs, errors.New(d))
			}
			return errors.Join(errs...)
		})
		return informer.Run(ctx)
	})
	s.Do(writePods)
}
