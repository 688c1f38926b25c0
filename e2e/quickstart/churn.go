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

// churn changes Pods, one at a time, as in a running cluster: new versions, restarts, a Pod that
// goes and comes back.
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
		i := rand.IntN(c.pods)
		pod := c.objects.Pod(i)
		if err := c.change(ctx, i, pod); err != nil && ctx.Err() == nil {
			return fmt.Errorf("change Pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		c.count++
	}
}

// change replaces every tenth Pod that comes along, and changes the others: pod has
// the number i.
func (c *churn) change(ctx context.Context, i int, pod *corev1.Pod) error {
	switch c.count % 10 {
	case 0:
		return c.replace(ctx, i, pod)
	case 1, 2, 3:
		return c.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"labels":{%q:"1.%d.0"}}}`, workload.VersionLabel, c.count))
	case 4, 5, 6:
		_, err := c.objects.UpdatePod(ctx, i, 2+c.count, c.client.CoreV1().Pods)
		return err
	default:
		return c.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}`,
			time.Now().UTC().Format(time.RFC3339Nano)))
	}
}

func (c *churn) patch(ctx context.Context, pod *corev1.Pod, patch string) error {
	_, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// replace deletes a Pod and creates it again. Without a kubelet to end its
// containers, only a Pod without a grace period goes.
func (c *churn) replace(ctx context.Context, i int, pod *corev1.Pod) error {
	pods := c.client.CoreV1().Pods
	if err := pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		return err
	}
	return c.objects.CreatePod(ctx, i, pods)
}
