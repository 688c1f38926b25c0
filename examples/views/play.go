package main

import (
	"context"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/view"
)

// play changes the objects of a server one by one, and prints what that changes in views.
func play(ctx context.Context, srv *apitest.Server, in *inputs, c *collections, out io.Writer) error {
	c.print(out)
	for _, step := range []struct {
		title string
		input view.Input
		write func(context.Context, ...apitest.Object) error
		obj   apitest.Object
	}{
		{"A Pod comes to node-b", in.pods, srv.Create, newPod("web-3", "node-b", "10.0.0.4", true)},
		{"It is not ready any more", in.pods, srv.Update, newPod("web-3", "node-b", "10.0.0.4", false)},
		{"node-b moves to another zone", in.nodes, srv.Update, newNode("node-b", "west")},
		{"The ConfigMap changes", in.configMaps, srv.Update, newConfigMap("debug")},
		{"An address goes", in.slices, srv.Update, newSlice("10.0.0.1")},
	} {
		fmt.Fprintln(out, step.title)
		if err := step.write(ctx, step.obj); err != nil {
			return err
		}
		if err := c.reach(ctx, step.input, srv.ResourceVersion()); err != nil {
			return err
		}
		c.print(out)
	}
	why, _, err := c.endpoints.view.Explain(ctx, index.Key{Namespace: "shop", Name: "web"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Why are the endpoints what they are?\n%s", why)
	return nil
}

// served is how an API server of tests serves Gateways and Routes.
func served() apitest.Option {
	return apitest.WithResources(
		apitest.Resource{GroupVersionResource: gateways, Kind: "Gateway", Type: &Gateway{}},
		apitest.Resource{GroupVersionResource: routes, Kind: "Route", Type: &Route{}})
}

// shop is the objects of a server: three Pods of a Deployment behind a Service, and what
// belongs to them.
func shop() []apitest.Object {
	gateway := &Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "public"}}
	gateway.Spec.Address = "192.0.2.1"
	replicaSet := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "replicas"}}
	replicaSet.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
		&metav1.ObjectMeta{Name: "web", UID: "deployment"}, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	return []apitest.Object{
		newNode("node-a", "east"), newNode("node-b", "east"), replicaSet, newConfigMap("info"),
		newPod("web-0", "node-a", "10.0.0.1", true), newPod("web-1", "node-a", "10.0.0.2", true), newPod("web-2", "node-b", "10.0.0.3", true),
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}},
		},
		&corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "small"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}},
		},
		gateway, newRoute("all", "shop.example", 80), newSlice("10.0.0.1", "10.0.0.2"),
	}
}

func newNode(name, zone string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"),
		}},
	}
}

func newPod(name, node, ip string, ready bool) *corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{checksumAnnotation: checksum([]string{checksumOf(newConfigMap("info"))})},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(
				&metav1.ObjectMeta{Name: "web-1", UID: "replicas"}, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: corev1.PodSpec{
			NodeName: node,
			Containers: []corev1.Container{{Name: "web", Image: "nginx", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
			}}}},
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}},
			}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: ip,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
		},
	}
}

func newConfigMap(level string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"level": level}}
}

func newSlice(addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for _, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
	}
	return s
}

func newRoute(name, host string, port int32) *Route {
	return &Route{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       RouteSpec{Gateways: []string{"public"}, Host: host, Service: "web", Port: port},
	}
}
