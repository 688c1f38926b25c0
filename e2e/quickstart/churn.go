package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/e2e/workload"
)

// churn changes Pods, one at a time, as those who run a cluster do: new versions,
// restarts, a Pod that goes and comes back.
type churn struct {
	client   kubernetes.Interface
	objects  workload.Objects
	pods     int
	interval time.Duration // between two changes
	count    int           // owned by run
}

// run changes a random Pod at every interval until ctx ends, and returns nil
// then. It returns the error of a change that fails, which none should.
func (c *churn) run(ctx context.Context) error {
	ticker := time.NewTicker(c.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		pod := c.objects.Pod(rand.IntN(c.pods))
		if err := c.change(ctx, pod); err != nil && ctx.Err() == nil {
			return fmt.Errorf("change Pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		c.count++
	}
}

// change replaces every tenth Pod that comes along, and patches the others.
func (c *churn) change(ctx context.Context, pod *corev1.Pod) error {
	switch c.count % 10 {
	case 0:
		return c.replace(ctx, pod)
	case 1, 2, 3:
		return c.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"labels":{%q:"1.%d.0"}}}`, workload.VersionLabel, c.count))
	case 4, 5, 6:
		return c.patch(ctx, pod, `{"status":{"phase":"Running"}}`, "status")
	default:
		return c.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}`,
			time.Now().UTC().Format(time.RFC3339Nano)))
	}
}

func (c *churn) patch(ctx context.Context, pod *corev1.Pod, patch string, subresources ...string) error {
	_, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	return err
}

// replace deletes a Pod and creates it again. Without a kubelet to end its
// containers, only a Pod without a grace period goes.
func (c *churn) replace(ctx context.Context, pod *corev1.Pod) error {
	pods := c.client.CoreV1().Pods(pod.Namespace)
	if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		return err
	}
	_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	return err
}
