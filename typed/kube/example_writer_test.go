package kube_test

import (
	"context"
	"fmt"
	"log"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// A custom resource is created, and its status set, with a struct and nothing else.
func ExampleNewWriter() {
	config, stop := serverWith()
	defer stop()
	ctx := context.Background()
	networks, err := kube.NewWriter[*Network](config,
		kube.WithResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}),
		kube.WithFullUpdates()) // the struct has all the fields that there are
	if err != nil {
		log.Fatal(err)
	}
	lab := &Network{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lab"}, Spec: NetworkSpec{CIDR: "10.1.0.0/16"}}
	created, err := networks.Create(ctx, lab, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	created.Status.Phase = "Ready"
	ready, err := networks.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ready.Name, ready.Spec.CIDR, ready.Status.Phase)

	_, err = networks.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	fmt.Println("conflict:", apierrors.IsConflict(err))
	// Output:
	// lab 10.1.0.0/16 Ready
	// conflict: true
}

// A patch does not change fields that the struct lacks.
func ExampleWriter_MergePatch() {
	config, stop := serverWith(newNetwork("lab", "10.1.0.0/16"))
	defer stop()
	ctx := context.Background()
	type label struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	networks, err := kube.NewWriter[*label](config,
		kube.WithResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}))
	if err != nil {
		log.Fatal(err)
	}
	old, err := networks.Get(ctx, index.Key{Namespace: "default", Name: "lab"}, metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	updated := kube.Copy(old)
	updated.Labels = map[string]string{"tier": "test"}
	patched, err := networks.MergePatch(ctx, old, updated, metav1.PatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(patched.Name, patched.Labels)
	// Output: lab map[tier:test]
}
