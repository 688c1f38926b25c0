package typed_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// An informer, from beginning to end. The client is any clientset.
func ExampleNewInformer() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"), rig.NewPod("web-1", "node-2"), rig.NewPod("web-2", "node-1"))
	defer shutdown()

	// What to keep, and how to find it.
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) {
		return p.Spec.NodeName, p.Spec.NodeName != ""
	})
	if err := pods.AddIndexes(byNode); err != nil {
		log.Fatal(err)
	}

	// What to do when it changes.
	printer, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(p *corev1.Pod, initial bool) { fmt.Println("add", p.Name, "initial:", initial) },
		UpdateFunc: func(old, updated *corev1.Pod) { fmt.Println("update", updated.Name) },
		DeleteFunc: func(d typed.Deleted[*corev1.Pod]) { fmt.Println("delete", d.Key) },
	})
	if err != nil {
		log.Fatal(err)
	}

	// Run returns when ctx ends.
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			log.Print(err)
		}
	})

	// The error contains the reason if it does not sync. A program that only reads waits for the
	// informer, pods.WaitForSync; this one also for the output of its handler.
	syncing, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := printer.WaitForSync(syncing); err != nil {
		log.Fatal(err)
	}

	fmt.Println("on node-1:", byNode.Len("node-1"))
	for p := range byNode.All("node-2") {
		fmt.Println("on node-2:", p.Name)
	}
	web, err := lister.New(pods).Namespace("default").List(labels.SelectorFromSet(labels.Set{"app": "web"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("app=web:", len(web))

	stop()
	running.Wait()
	// Unordered output:
	// add web-0 initial: true
	// add web-1 initial: true
	// add web-2 initial: true
	// on node-1: 2
	// on node-2: web-1
	// app=web: 3
}

// Events are what a handler gets, in a loop that may be left.
func ExampleInformer_Events() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("default")))
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()

	for e := range pods.Events(ctx).All() {
		fmt.Println(e.Reason, e.Type, e.New.Name)
		var err error
		switch e.Type {
		case index.Added:
			p := e.New.DeepCopy() // objects are shared: never modify them
			p.Status.Phase = corev1.PodRunning
			_, err = client.CoreV1().Pods("default").UpdateStatus(ctx, p, metav1.UpdateOptions{})
		case index.Updated:
			if e.New.DeletionTimestamp != nil {
				fmt.Println("is to be deleted")
				break
			}
			fmt.Printf("from %q to %q\n", e.Old.Status.Phase, e.New.Status.Phase)
			err = client.CoreV1().Pods("default").Delete(ctx, e.New.Name, *metav1.NewDeleteOptions(0)) // as its node does, in the end
		}
		if err != nil {
			log.Fatal(err)
		}
		if e.Type == index.Deleted {
			break
		}
	}
	// Output:
	// Initial Added web-0
	// Watched Updated web-0
	// from "" to "Running"
	// Watched Updated web-0
	// is to be deleted
	// Watched Deleted web-0
}

// To read what was written, wait for the version that the write returned.
func ExampleInformer_WaitForResourceVersion() {
	client, shutdown := rig.NewCluster()
	defer shutdown()
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()

	written, err := client.CoreV1().Pods("default").Create(ctx, rig.NewPod("web-0", "node-1"), metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := pods.WaitForResourceVersion(ctx, written.ResourceVersion); err != nil {
		log.Fatal(err)
	}
	read, ok := pods.Get(index.Key{Namespace: "default", Name: "web-0"})
	fmt.Println(ok, read.ResourceVersion == written.ResourceVersion)
	// Output: true true
}

// A handler that was removed is not called again.
func ExampleRegistration_Close() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()

	printer, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(p *corev1.Pod, _ bool) { fmt.Println("add", p.Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := printer.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	printer.Close() // may be called in the handler, too

	written, err := client.CoreV1().Pods("default").Create(ctx, rig.NewPod("web-1", "node-2"), metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := pods.WaitForResourceVersion(ctx, written.ResourceVersion); err != nil {
		log.Fatal(err)
	}
	fmt.Println("pods:", pods.Len())
	// Output:
	// add web-0
	// pods: 2
}
