package kube_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// serverWith starts a server with some objects. In a program, the configuration
// comes from rest.InClusterConfig or clientcmd.
func serverWith(objects ...apitest.Object) (config *rest.Config, stop func()) {
	srv, err := apitest.NewServer(apitest.WithResources(apitest.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}, Kind: "Network", Status: true,
	}), apitest.WithObjects(objects...))
	if err != nil {
		log.Fatal(err)
	}
	return srv.Config(), func() {
		if err := srv.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// show runs an informer until it has synced, and shows its first object.
func show[T index.Object](src source.Source[T], what func(T) any) {
	ctx, cancel := context.WithCancel(context.Background())
	informer := typed.NewInformer(src)
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx) }()
	if err := informer.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	for obj := range informer.All() {
		fmt.Println(obj.GetName(), what(obj))
	}
	cancel()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
}

// A type that is registered is all that has to be said.
func ExampleFromREST() {
	config, stop := serverWith(rig.NewPod("web-0", "node-7"))
	defer stop()
	pods := kube.FromREST[*corev1.Pod](config, kube.WithTypeMeta())
	show(pods, func(p *corev1.Pod) any { return p.Kind + " " + p.Spec.NodeName })
	// Output: web-0 Pod node-7
}

// packedPod is a Pod as bytes, and one of its fields.
type packedPod struct {
	kube.Packed[*corev1.Pod]

	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

// The named fields are decoded when an object arrives, and all others on request.
func ExamplePacked() {
	pod := rig.NewPod("web-0", "node-7")
	pod.Status.Phase = corev1.PodRunning
	config, stop := serverWith(pod)
	defer stop()
	show(kube.FromREST[*packedPod](config), func(p *packedPod) any {
		whole, err := p.Object()
		if err != nil {
			return err
		}
		return fmt.Sprintf("on %s is %s", p.Spec.NodeName, whole.Status.Phase)
	})
	// Output: web-0 on node-7 is Running
}

// Network is a custom resource, without generated code and without a scheme.
type Network struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Spec   NetworkSpec   `json:"spec"`
	Status NetworkStatus `json:"status"`
}

type NetworkStatus struct {
	Phase string `json:"phase,omitempty"`
}

type NetworkSpec struct {
	CIDR string `json:"cidr"`
	Size int    `json:"size,omitempty"`
}

func ExampleFromREST_customResource() {
	config, stop := serverWith(newNetwork("lab", "10.1.0.0/16"))
	defer stop()
	networks := kube.FromREST[*Network](config,
		kube.WithResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}))
	show(networks, func(n *Network) any { return n.Spec.CIDR })
	// Output: lab 10.1.0.0/16
}

// slimPod contains the fields of a Pod that the program needs, and not apimachinery's metadata. The
// others are skipped when a Pod arrives.
type slimPod struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Image string `json:"image"`
		} `json:"containers"`
	} `json:"spec"`
}

func (p *slimPod) GetNamespace() string       { return p.Metadata.Namespace }
func (p *slimPod) GetName() string            { return p.Metadata.Name }
func (p *slimPod) GetResourceVersion() string { return p.Metadata.ResourceVersion }

func ExampleFromREST_fewFields() {
	pod := rig.NewPod("web-0", "node-7")
	pod.Spec.Containers = []corev1.Container{{Name: "server", Image: "server:1"}, {Name: "proxy", Image: "proxy:2"}}
	config, stop := serverWith(pod)
	defer stop()
	pods := kube.FromREST[*slimPod](config, kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}))
	show(pods, func(p *slimPod) any { return p.Spec.Containers })
	// Output: web-0 [{server:1} {proxy:2}]
}

func ExampleFromREST_unstructured() {
	config, stop := serverWith(newNetwork("lab", "10.1.0.0/16"))
	defer stop()
	networks := kube.FromREST[*unstructured.Unstructured](config,
		kube.WithResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}))
	show(networks, func(u *unstructured.Unstructured) any { return u.Object["spec"] })
	// Output: lab map[cidr:10.1.0.0/16 size:7]
}

// The server sends no more than metadata.
func ExampleFromREST_metadata() {
	config, stop := serverWith(rig.NewPod("web-0", "node-7"))
	defer stop()
	pods := kube.FromREST[*metav1.PartialObjectMetadata](config, kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}))
	show(pods, func(p *metav1.PartialObjectMetadata) any { return p.Labels })
	// Output: web-0 map[app:web]
}
