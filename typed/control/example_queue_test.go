package control_test

import (
	"fmt"
	"iter"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// An informer feeds a queue: keys of objects whose spec or labels change.
func ExampleEnqueue() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		log.Fatal(err)
	}
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	matters := control.Or(control.GenerationChanged[*corev1.Pod], control.LabelsChanged)
	if _, err := pods.Handle(control.FilterUpdates(control.Enqueue[*corev1.Pod](q), matters)); err != nil {
		log.Fatal(err)
	}
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()

	key, err := q.GetContext(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(key)
	q.Done(key)
	q.ShutDown()
	// Output: default/web-0
}

// Queues of client-go are fed as well.
func ExampleAdderFunc() {
	q := workqueue.NewTyped[index.Key]()
	handler := control.Enqueue[*corev1.Pod](control.AdderFunc[index.Key](q.Add))

	handler.OnAdd(rig.NewPod("web-0", "node-1"), false)
	key, _ := q.Get()
	fmt.Println(key)
	// Output: default/web-0
}

// A queue may have keys of any type, such as the names of the nodes that pods
// are on. When a pod moves, both nodes are added.
func ExampleEnqueueFunc() {
	q, err := queue.NewWorkQueue[string]()
	if err != nil {
		log.Fatal(err)
	}
	handler := control.EnqueueFunc(q, func(p *corev1.Pod) iter.Seq[string] {
		return func(yield func(string) bool) {
			if p.Spec.NodeName != "" {
				yield(p.Spec.NodeName)
			}
		}
	})

	handler.OnUpdate(rig.NewPod("web-0", "node-1"), rig.NewPod("web-0", "node-2"))
	for range q.Len() {
		node, _ := q.Get()
		fmt.Println(node)
		q.Done(node)
	}
	// Output:
	// node-2
	// node-1
}

// The handler adds the key of a Pod's owner.
func ExampleEnqueueOwner() {
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		log.Fatal(err)
	}
	handler := control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"})

	pod := rig.NewPod("web-0", "node-1")
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	handler.OnDelete(typed.Deleted[*corev1.Pod]{Key: index.KeyOf(pod), Object: pod, Old: pod})
	key, _ := q.Get()
	fmt.Println(key)
	q.Done(key)
	// Output: default/web
}

// A handler that is only interested in the pods of one node.
func ExampleFilter() {
	printer := typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(p *corev1.Pod, _ bool) { fmt.Println("here:", p.Name) },
		DeleteFunc: func(d typed.Deleted[*corev1.Pod]) { fmt.Println("gone:", d.Key.Name, "by", d.Reason) },
	}
	handler := control.Filter(printer, func(p *corev1.Pod) bool { return p.Spec.NodeName == "node-1" })

	handler.OnAdd(rig.NewPod("web-0", "node-2"), false)
	handler.OnUpdate(rig.NewPod("web-0", "node-2"), rig.NewPod("web-0", "node-1"))
	handler.OnUpdate(rig.NewPod("web-0", "node-1"), rig.NewPod("web-0", "node-2"))
	// Output:
	// here: web-0
	// gone: web-0 by OutOfScope
}
