package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
)

// TestSimulation checks that in the end the last report of each Node is right, whatever
// fails before.
func TestSimulation(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		var seen counts
		s.Start("podcount", func(ctx context.Context, config *rest.Config) error {
			seen.reset() // it may have crashed
			return run(ctx, config, seen.report)
		})
		s.Do(createOrDeletePod) // while faults happen
		s.Eventually("counts are right", 10*time.Minute, func(now simulation.State) error {
			return seen.compare(simulation.Objects[*corev1.Pod](now))
		})
	})
}

// counts are the Pods by Node that were reported last.
type counts struct {
	mu     sync.Mutex
	byNode map[string]int // guarded by mu, without zeros
}

func (c *counts) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byNode = map[string]int{}
}

func (c *counts) report(node string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byNode[node] = n; n == 0 {
		delete(c.byNode, node)
	}
}

// compare returns an error if the Pods of a server are others than those reported.
func (c *counts) compare(pods []*corev1.Pod) error {
	want := map[string]int{}
	for _, pod := range pods {
		want[pod.Spec.NodeName]++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(want, c.byNode) {
		return fmt.Errorf("the server has %v, reported were %v", want, c.byNode)
	}
	return nil
}

// createOrDeletePod is what users do.
func createOrDeletePod(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	pods, name := client.CoreV1().Pods("default"), fmt.Sprint("web-", random.IntN(5))
	var err error
	if random.IntN(2) == 0 {
		_, err = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{NodeName: fmt.Sprint("node-", random.IntN(3))},
		}, metav1.CreateOptions{})
	} else {
		err = pods.Delete(ctx, name, metav1.DeleteOptions{})
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
