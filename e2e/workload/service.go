package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// endpointsOfSlice is the number of endpoints of an EndpointSlice.
const endpointsOfSlice = 10

// Service returns the Service of number i. It is headless, so that it takes no
// address from the cluster, and without a selector, so that no controller makes
// endpoints for it.
func (o Objects) Service(i int) *corev1.Service {
	meta, _ := o.meta(i)
	return &corev1.Service{
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Ports: []corev1.ServicePort{
				{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
				{Name: "metrics", Port: 9090, TargetPort: intstr.FromInt32(9090)},
			},
		},
	}
}

// EndpointSlice returns the EndpointSlice of number i, which belongs to the
// Service of that number, with ten endpoints.
func (o Objects) EndpointSlice(i int) *discoveryv1.EndpointSlice {
	meta, _ := o.meta(i)
	meta.Labels[discoveryv1.LabelServiceName] = meta.Name
	meta.Labels[discoveryv1.LabelManagedBy] = "workload.example.com" // and by no controller
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  meta,
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{
			{Name: ptr.To("http"), Port: ptr.To[int32](8080)},
			{Name: ptr.To("metrics"), Port: ptr.To[int32](9090)},
		},
	}
	for n := range endpointsOfSlice {
		address := i*endpointsOfSlice + n
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{fmt.Sprintf("10.%d.%d.%d", address>>16&0xff, address>>8&0xff, address&0xff)},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true), Serving: ptr.To(true), Terminating: ptr.To(false)},
			Zone:       ptr.To(zones[n%len(zones)]),
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: meta.Namespace, Name: fmt.Sprintf("%s-%d", meta.Name, n)},
		})
	}
	return slice
}
