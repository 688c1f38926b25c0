// Command podips finds out who has an IP address: a Pod, which may have several, or a
// Service; and which ReplicaSet a Pod belongs to. Three informers in one program.
//
//	go run ./examples/podips [-kubeconfig FILE]
package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func main() { demo.Main(run) }

// addresses is what the program knows.
type addresses struct {
	pods        *typed.Informer[*corev1.Pod]
	services    *typed.Informer[*corev1.Service]
	replicaSets *typed.Informer[*appsv1.ReplicaSet]

	podByIP     *index.Index[netip.Addr, *corev1.Pod]
	serviceByIP *index.Index[netip.Addr, *corev1.Service]
}

func newAddresses(client kubernetes.Interface) (*addresses, error) {
	a := &addresses{
		pods:        typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll))),
		services:    typed.NewInformer(kube.FromClient(client.CoreV1().Services(metav1.NamespaceAll))),
		replicaSets: typed.NewInformer(kube.FromClient(client.AppsV1().ReplicaSets(metav1.NamespaceAll))),

		// Any comparable type can be a key, and an object can have several.
		podByIP: index.New("ip", func(p *corev1.Pod) (ips []netip.Addr) {
			for _, ip := range p.Status.PodIPs {
				ips = appendAddr(ips, ip.IP)
			}
			return ips
		}),
		serviceByIP: index.New("ip", func(s *corev1.Service) (ips []netip.Addr) {
			for _, ip := range s.Spec.ClusterIPs {
				ips = appendAddr(ips, ip)
			}
			return ips
		}),
	}
	if err := a.pods.AddIndexes(a.podByIP); err != nil {
		return nil, err
	}
	return a, a.services.AddIndexes(a.serviceByIP)
}

func appendAddr(ips []netip.Addr, s string) []netip.Addr {
	if ip, err := netip.ParseAddr(s); err == nil {
		ips = append(ips, ip)
	}
	return ips
}

// whoHas returns the owner of an address. Pods on the network of their node share one.
func (a *addresses) whoHas(ip netip.Addr) string {
	if service, n := a.serviceByIP.One(ip); n > 0 {
		return "Service " + service.Name
	}
	pod, n := a.podByIP.One(ip)
	switch {
	case n == 0:
		return "nobody"
	case n > 1:
		return fmt.Sprintf("%d Pods", n)
	}
	if ref := metav1.GetControllerOf(pod); ref != nil && ref.Kind == "ReplicaSet" {
		if owner, ok := a.replicaSets.Get(index.Key{Namespace: pod.Namespace, Name: ref.Name}); ok {
			return fmt.Sprintf("Pod %s of ReplicaSet %s", pod.Name, owner.Name)
		}
	}
	return "Pod " + pod.Name
}

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	a, err := newAddresses(client)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.pods.Run(ctx) })
	group.Go(func() error { return a.services.Run(ctx) })
	group.Go(func() error { return a.replicaSets.Run(ctx) })
	group.Go(func() error {
		defer stop()
		for _, wait := range []func(context.Context) error{a.pods.WaitForSync, a.services.WaitForSync, a.replicaSets.WaitForSync} {
			if err := wait(ctx); err != nil {
				return err
			}
		}
		for _, ip := range []string{"10.96.0.1", "10.0.0.2", "fd00::3", "10.0.0.99"} {
			fmt.Fprintf(out, "%s: %s\n", ip, a.whoHas(netip.MustParseAddr(ip)))
		}
		return nil
	})
	return group.Wait()
}
