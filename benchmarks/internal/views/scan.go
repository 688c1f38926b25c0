package views

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The functions below compute collections from scratch, by looking at everything.

func scanEndpoints(services []*corev1.Service, pods []*corev1.Pod) []*Endpoints {
	all := map[string]*Endpoints{}
	for _, s := range services {
		var matching []*corev1.Pod
		for _, pod := range pods {
			if pod.Namespace == s.Namespace && labels.SelectorFromValidatedSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
				matching = append(matching, pod)
			}
		}
		all[s.Namespace+"/"+s.Name] = EndpointsOf(s, slices.Values(ByName(matching)))
	}
	return Sorted(maps.Values(all))
}

func scanPlacements(pods []*corev1.Pod, nodes []*corev1.Node) []*Placement {
	all := map[string]*Placement{}
	for _, pod := range pods {
		var on *corev1.Node
		for _, node := range nodes {
			if node.Name == pod.Spec.NodeName {
				on = node
			}
		}
		all[pod.Namespace+"/"+pod.Name] = PlacementOf(pod, on)
	}
	return Sorted(maps.Values(all))
}

func scanApplied(pods []*corev1.Pod, policies []*networkingv1.NetworkPolicy) []*Applied {
	all := map[string]*Applied{}
	for _, pod := range pods {
		var matching []*networkingv1.NetworkPolicy
		for _, policy := range policies {
			if policy.Namespace == pod.Namespace && SelectorOf(policy).Matches(labels.Set(pod.Labels)) {
				matching = append(matching, policy)
			}
		}
		all[pod.Namespace+"/"+pod.Name] = AppliedTo(pod, slices.Values(ByName(matching)))
	}
	return Sorted(maps.Values(all))
}
