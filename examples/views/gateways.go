package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/view"
)

// The resources of Gateways and Routes, which are a small part of those of the Gateway API.
var (
	gateways = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gateways"}
	routes   = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "routes"}
)

// Gateway takes traffic in.
type Gateway struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Address string `json:"address,omitempty"`
	} `json:"spec"`
}

// Route sends the traffic of a host from Gateways to a Service of its namespace.
type Route struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec RouteSpec `json:"spec"`
}

// RouteSpec is where a Route leads.
type RouteSpec struct {
	Gateways []string `json:"gateways,omitempty"`
	Host     string   `json:"host,omitempty"`
	Service  string   `json:"service,omitempty"`
	Port     int32    `json:"port,omitempty"`
}

// Proxy is what the proxy of a Gateway has to know: where to send the traffic of a host.
type Proxy struct {
	view.Named
	Address string
	Hosts   map[string][]string
}

func (p *Proxy) String() string {
	s := fmt.Sprintf("proxy of %s at %s:", p.Key(), p.Address)
	for _, host := range slices.Sorted(maps.Keys(p.Hosts)) {
		s += fmt.Sprintf(" %s to [%s]", host, strings.Join(p.Hosts[host], " "))
	}
	return s
}

// upstream is the ready addresses of a Service.
type upstream struct {
	view.Named
	Ports     []int32
	Addresses []string
}

// target is a Route with the addresses that it leads to.
type target struct {
	view.Named
	Gateways  []string
	Host      string
	Addresses []string
}

// proxiesOf is the Proxy of each Gateway. It is computed from four kinds, step by step, and a
// step whose result equals the one before is the last: a Pod whose address stays the same
// changes nothing for a Gateway.
func proxiesOf(
	gateways *view.View[*Gateway], routes *view.View[*Route],
	services *view.View[*corev1.Service], slices *view.View[*discoveryv1.EndpointSlice],
) *view.View[*Proxy] {
	upstreams := view.JoinOn(services, slices, view.Name[*corev1.Service](), view.One(serviceOfSlice),
		func(s *corev1.Service, slices iter.Seq[*discoveryv1.EndpointSlice]) (*upstream, bool) {
			u := &upstream{Named: view.NamedAs(s)}
			for _, p := range s.Spec.Ports {
				u.Ports = append(u.Ports, p.Port)
			}
			for slice := range slices {
				u.Addresses = append(u.Addresses, readyAddresses(slice)...)
			}
			return u, true
		}, view.WithName("upstreams"))

	targets := view.JoinOn(routes, upstreams, view.One(serviceOfRoute), view.Name[*upstream](), targetOf, view.WithName("targets"))

	gatewaysOf := view.Many(func(t *target) (keys []index.Key) {
		for _, name := range t.Gateways {
			keys = append(keys, index.Key{Namespace: t.Namespace, Name: name})
		}
		return keys
	})
	return view.JoinOn(gateways, targets, view.Name[*Gateway](), gatewaysOf,
		func(g *Gateway, targets iter.Seq[*target]) (*Proxy, bool) {
			p := &Proxy{view.NamedAs(g), g.Spec.Address, map[string][]string{}}
			for t := range targets {
				p.Hosts[t.Host] = append(p.Hosts[t.Host], t.Addresses...)
			}
			return p, true
		}, view.WithName("proxies"))
}

// targetOf is the target of a Route, without addresses if its Service is not there or has
// no such port.
func targetOf(r *Route, upstreams iter.Seq[*upstream]) (*target, bool) {
	t := &target{Named: view.NamedAs(r), Gateways: r.Spec.Gateways, Host: r.Spec.Host}
	for u := range upstreams {
		if slices.Contains(u.Ports, r.Spec.Port) {
			t.Addresses = u.Addresses
		}
	}
	return t, true
}

func serviceOfRoute(r *Route) (index.Key, bool) {
	return index.Key{Namespace: r.Namespace, Name: r.Spec.Service}, true
}

func serviceOfSlice(s *discoveryv1.EndpointSlice) (index.Key, bool) {
	name, ok := s.Labels[discoveryv1.LabelServiceName]
	return index.Key{Namespace: s.Namespace, Name: name}, ok
}

func readyAddresses(s *discoveryv1.EndpointSlice) (addresses []string) {
	for _, e := range s.Endpoints {
		if e.Conditions.Ready == nil || *e.Conditions.Ready { // nil is to be taken for true
			addresses = append(addresses, e.Addresses...)
		}
	}
	return addresses
}
