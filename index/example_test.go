package index_test

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

// examplePod is a Pod as a cluster has it, cut down to what the examples ask.
func examplePod(name, app, node string, ips ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
	for _, ip := range ips {
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: ip})
	}
	return p
}

// exampleStore returns a store of four Pods, with indexes.
func exampleStore(indexes ...index.Definition[*corev1.Pod]) *index.Indexer[*corev1.Pod] {
	pods := index.NewIndexer[*corev1.Pod]()
	if err := pods.AddIndexes(indexes...); err != nil {
		panic(err)
	}
	pods.Replace(nil, []*corev1.Pod{
		examplePod("web-1", "web", "node-a", "10.0.0.1", "fd00::1"),
		examplePod("web-2", "web", "node-b", "10.0.0.2"),
		examplePod("db-0", "db", "node-a", "10.0.0.3"),
		examplePod("web-3", "web", ""),
	}, "100", index.Initial)
	return pods
}

// onNodes is how most programs look for Pods.
func onNodes() *index.Index[string, *corev1.Pod] {
	return index.Single("node", func(p *corev1.Pod) (string, bool) {
		return p.Spec.NodeName, p.Spec.NodeName != ""
	})
}

// Each write to a store is a batch, and returns the events that it caused.
func ExampleIndexer() {
	pods := index.NewIndexer[*corev1.Pod]()

	events := pods.Replace(nil, []*corev1.Pod{
		examplePod("web-1", "web", ""),
		examplePod("db-0", "db", "node-a"),
	}, "100", index.Initial)
	events = pods.Apply(events, []index.Change[*corev1.Pod]{
		{Object: examplePod("web-1", "web", "node-b"), Reason: index.Watched},
		{Object: examplePod("db-0", "db", "node-a"), Reason: index.Watched, Delete: true},
	}, "102")

	for _, e := range events {
		fmt.Println(e.Type, e.Key(), e.Reason)
	}
	web, _ := pods.Get(index.Key{Namespace: "shop", Name: "web-1"})
	fmt.Println(web.Name, "runs on", web.Spec.NodeName, "as of version", pods.ResourceVersion())
	// Output:
	// Added shop/web-1 Initial
	// Added shop/db-0 Initial
	// Updated shop/web-1 Watched
	// Deleted shop/db-0 Watched
	// web-1 runs on node-b as of version 102
}

// An index is a handle: the look-up needs no name, no cast and no error.
func ExampleSingle() {
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) {
		return p.Spec.NodeName, p.Spec.NodeName != ""
	})
	pods := exampleStore(byNode)

	for p := range byNode.All("node-a") {
		fmt.Println(p.Name)
	}
	fmt.Println(byNode.Len("node-a"), "of", pods.Len(), "on node-a")
	// Unordered output:
	// web-1
	// db-0
	// 2 of 4 on node-a
}

// Keys have the type that fits them, and an object may have several.
func ExampleNew() {
	byIP := index.New("ip", func(p *corev1.Pod) []netip.Addr {
		var addrs []netip.Addr
		for _, ip := range p.Status.PodIPs {
			if addr, err := netip.ParseAddr(ip.IP); err == nil {
				addrs = append(addrs, addr)
			}
		}
		return addrs
	})
	exampleStore(byIP)

	for _, p := range byIP.Get(netip.MustParseAddr("fd00:0:0::1")) {
		fmt.Println(p.Name)
	}
	// Output: web-1
}

// Labels makes an index for selectors. It returns candidates, and the caller checks them; listers
// do both.
func ExampleLabels() {
	pods := exampleStore(index.Labels[*corev1.Pod]("app"))

	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	for p := range pods.Candidates("shop", selector) { // looks at three Pods, not four
		if selector.Matches(labels.Set(p.Labels)) {
			fmt.Println(p.Name)
		}
	}
	// Unordered output:
	// web-1
	// web-2
	// web-3
}

// Intersect joins indexes: which Pods of two applications run on one node?
func ExampleIntersect() {
	byNode, byApp := onNodes(), index.Labels[*corev1.Pod]("app")
	exampleStore(byNode, byApp)

	web, db := index.Label{Key: "app", Value: "web"}, index.Label{Key: "app", Value: "db"}
	for p := range index.Intersect(byNode.Is("node-a"), byApp.Is(web, db)) {
		fmt.Println(p.Name)
	}
	// Unordered output:
	// web-1
	// db-0
}

// A snapshot, with its indexes, stays as it is while the store changes.
func ExampleSnapshot() {
	byNode := onNodes()
	pods := exampleStore(byNode)

	before := pods.Snapshot()
	pods.Apply(nil, []index.Change[*corev1.Pod]{
		{Object: examplePod("web-3", "web", "node-a"), Reason: index.Watched},
	}, "101")

	fmt.Println(before.ResourceVersion(), byNode.In(before).Len("node-a"))
	fmt.Println(pods.ResourceVersion(), byNode.Len("node-a"))
	fmt.Println(slices.Sorted(byNode.In(before).Keys()))
	// Output:
	// 100 2
	// 101 3
	// [node-a node-b]
}
