package target

// views are for collections computed from others, compared with istio's krt, as istio uses it
// and with the one index that fits the reads, and with handwritten code on client-go. A ratio of
// 0.67 is one and a half times as long.
func views() []Target {
	const (
		lists, inputs         = "PeerViewInitial/from=lists", "PeerViewInitial/from=inputs"
		pod, pods             = "PeerViewPodChange/changes=1", "PeerViewPodChange/changes=1000"
		selector, selectors   = "PeerViewSelectorChange/changes=1", "PeerViewSelectorChange/changes=1000"
		node, nodes           = "PeerViewNodeChange/changes=1", "PeerViewNodeChange/changes=10"
		allPolicies, allOther = "PeerViewPolicies/change=policies", "PeerViewPolicies/change=pods"
	)
	all := against("krt", []Target{
		{Name: lists, AtLeast: 3, Work: "views: 10,000 Services join 100,000 Pods, from lists"},
		{Name: lists, Unit: "live-B", AtLeast: 2, Work: "views: the same, heap beyond the objects"},
		{Name: pod, AtLeast: 10, Work: "views: a Pod changes", Headline: true},
		{Name: pods, AtLeast: 10, Work: "views: 1,000 Pods change"},
		{Name: node, AtLeast: 10, Work: "views: a Node of 100 Pods changes"},
		{Name: nodes, AtLeast: 10, Work: "views: 10 Nodes of 100 Pods each change"},
	})
	all = append(all, against("krt-by-app", []Target{
		{Name: lists, AtLeast: 3}, {Name: inputs, AtLeast: 3}, {Name: lists, Unit: "live-B", AtLeast: 2},
		{Name: pod, AtLeast: 10}, {Name: pods, AtLeast: 10},
	})...)
	var byHand []Target
	for _, name := range []string{lists, inputs, pod, pods, selector, selectors, node, nodes, allPolicies, allOther} {
		byHand = append(byHand, Target{Name: name, AtLeast: 1 / 1.5})
	}
	return append(all, against("by-hand", byHand)...)
}
