package queue_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/queue"
)

// A watch puts its changes in; the store takes all of them at once.
func ExampleDeltaFIFO() {
	pod := func(name, phase string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Status:     corev1.PodStatus{Phase: corev1.PodPhase(phase)},
		}
	}
	pods := queue.NewDeltaFIFO[*corev1.Pod]()

	pods.Replace(queue.List[*corev1.Pod]{Objects: []*corev1.Pod{pod("web-1", "Pending"), pod("db-0", "Running")}}, "100")
	pods.Put(pod("web-1", "Running"), "101")
	pods.Delete(pod("db-0", "Succeeded"), "102")
	pods.Add(queue.Delta[*corev1.Pod]{Type: queue.Bookmark, ResourceVersion: "110"})
	pods.Close() // in a program, when the watch ends

	for {
		batch, err := pods.Take(context.Background())
		if errors.Is(err, queue.ErrClosed) {
			fmt.Println("closed")
			return
		}
		fmt.Println("a batch of", len(batch))
		for _, d := range batch {
			switch d.Type {
			case queue.Replace:
				fmt.Println(d.Type, "by", len(d.List.Objects), "pods at", d.ResourceVersion)
			case queue.Put, queue.Delete:
				fmt.Println(d.Type, d.Object.Name, d.Object.Status.Phase)
			case queue.Bookmark:
				fmt.Println("nothing else up to", d.ResourceVersion)
			}
		}
	}
	// Output:
	// a batch of 4
	// Replace by 2 pods at 100
	// Put web-1 Running
	// Delete db-0 Succeeded
	// nothing else up to 110
	// closed
}
