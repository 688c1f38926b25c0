package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/view"
)

// Endpoints are the addresses of the ready Pods that a Service selects, by zone.
type Endpoints struct {
	view.Named
	ByZone map[string][]string
}

func (e *Endpoints) String() string {
	s := fmt.Sprintf("endpoints of %s:", e.Key())
	for _, zone := range slices.Sorted(maps.Keys(e.ByZone)) {
		s += fmt.Sprintf(" %s in %s", strings.Join(e.ByZone[zone], " "), zone)
	}
	return s
}

// zone is what backends need of a Node. A Node's status changes all the time and its zone
// never does: the zone that is computed again equals the one before, and changes nothing else.
type zone struct {
	view.Named
	Zone string
}

// backend is what Endpoints need of a ready Pod.
type backend struct {
	view.Named
	Labels        map[string]string
	Address, Zone string
}

func (b *backend) GetLabels() map[string]string { return b.Labels }

// endpointsOf is the Endpoints of each Service with a selector.
func endpointsOf(services *view.View[*corev1.Service], pods *view.View[*corev1.Pod], nodes *view.View[*corev1.Node]) *view.View[*Endpoints] {
	zones := view.Map(nodes, func(n *corev1.Node) *zone {
		return &zone{view.NamedAs(n), n.Labels[corev1.LabelTopologyZone]}
	}, view.WithName("zones"))

	backends := view.JoinOn(pods, zones, view.One(nodeOfPod), view.Name[*zone](),
		func(p *corev1.Pod, zones iter.Seq[*zone]) (*backend, bool) {
			b := &backend{Named: view.NamedAs(p), Labels: p.Labels, Address: p.Status.PodIP, Zone: "no zone"}
			for z := range zones { // one, or none if the Node has not come yet
				b.Zone = z.Zone
			}
			return b, ready(p)
		}, view.WithName("backends"))

	return view.JoinSelecting(services, backends, selectorOfService,
		func(s *corev1.Service, backends iter.Seq[*backend]) (*Endpoints, bool) {
			e := &Endpoints{view.NamedAs(s), map[string][]string{}}
			for b := range backends {
				e.ByZone[b.Zone] = append(e.ByZone[b.Zone], b.Address)
			}
			return e, len(s.Spec.Selector) > 0
		}, view.WithName("endpoints"))
}

func nodeOfPod(p *corev1.Pod) (index.Key, bool) {
	return index.Key{Name: p.Spec.NodeName}, p.Spec.NodeName != ""
}

func selectorOfService(s *corev1.Service) labels.Selector {
	if len(s.Spec.Selector) == 0 {
		return nil // such a Service selects nothing; an empty selector would select everything
	}
	return labels.SelectorFromSet(s.Spec.Selector)
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
