package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// web is the ConfigMap of the play.
var web = index.Key{Namespace: "default", Name: "web"}

// play changes what there is, one step after another, and waits each time until
// the controller has done what is to be done about it, or ctx ends.
func play(ctx context.Context, c *controller, out io.Writer) error {
	changed := make(chan struct{}, 1)
	signal := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	watching, err := c.pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(*corev1.Pod, bool) { signal() },
		UpdateFunc: func(_, _ *corev1.Pod) { signal() },
		DeleteFunc: func(typed.Deleted[*corev1.Pod]) { signal() },
	})
	if err != nil {
		return err
	}
	defer watching.Close()

	for _, step := range steps(c) {
		before, begin := live(c), time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		for now := before; len(now) != step.want || step.others && now.intersects(before); now = live(c) {
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		fmt.Fprintf(out, "%-36s Pods: %d, after %v\n", step.name, step.want, time.Since(begin).Round(10*time.Microsecond))
	}
	return nil
}

// step is one step of the play.
type step struct {
	name   string
	do     func(context.Context) error
	want   int  // how many Pods there are in the end
	others bool // none of them was there before
}

func steps(c *controller) []step {
	configMaps, pods := c.client.CoreV1().ConfigMaps(web.Namespace), c.client.CoreV1().Pods(web.Namespace)
	asking := func(replicas string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: web.Name, Labels: mine},
			Data:       map[string]string{"replicas": replicas},
		}
	}
	ask := func(replicas string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := configMaps.Update(ctx, asking(replicas), metav1.UpdateOptions{})
			return err
		}
	}
	return []step{
		{name: "create a ConfigMap with replicas: 3", want: 3, do: func(ctx context.Context) error {
			_, err := configMaps.Create(ctx, asking("3"), metav1.CreateOptions{})
			return err
		}},
		{name: "delete its Pods", want: 3, others: true, do: func(ctx context.Context) error {
			return pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: mine.String()})
		}},
		{name: "replicas: 5", want: 5, do: ask("5")},
		{name: "replicas: 1", want: 1, do: ask("1")},
		{name: "delete the ConfigMap", want: 0, do: func(ctx context.Context) error {
			return configMaps.Delete(ctx, web.Name, metav1.DeleteOptions{})
		}},
	}
}

// uids identifies the Pods that there are.
type uids []types.UID

func (u uids) intersects(other uids) bool {
	return slices.ContainsFunc(u, func(uid types.UID) bool { return slices.Contains(other, uid) })
}

// live returns the Pods of web that are not about to go.
func live(c *controller) uids {
	var found uids
	for pod := range c.byOwner.All(web) {
		if pod.DeletionTimestamp == nil {
			found = append(found, pod.UID)
		}
	}
	return found
}

// report prints the counts of the queue, and those of the answers to writes.
func report(out io.Writer, c *controller) {
	q, w := c.queue.Stats(), c.writes.Status()
	fmt.Fprintf(out, "queue: %d waiting, %d in process, %d delayed, %d retries\n", q.Waiting, q.InFlight, q.Delayed, q.Retries)
	fmt.Fprintf(out, "own writes: %d were read before the watch brought them, %d after it, %d late\n", w.Taken, w.Ignored, w.Late)
	fmt.Fprintln(out, "metrics:")
	c.metrics.write(out)
}
