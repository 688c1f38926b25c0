// Package workload fills a cluster with what some teams run in it: the Pods of
// their applications, spread over namespaces and Nodes, and what belongs to them.
// The Pods are those of internal/test/pods, from which benchmarks have theirs.
package workload

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/pods"
)

// The labels that all objects in namespaces have. The last has few values.
const (
	AppLabel     = pods.AppLabel
	VersionLabel = pods.VersionLabel
	TierLabel    = pods.TierLabel
)

// appsOfOthers is the number of applications that have other objects than Pods.
const appsOfOthers = 96

// zones are what the Nodes are in.
var zones = []string{"zone-a", "zone-b", "zone-c"}

// Objects makes the objects of a workload. Those of a number are the same every
// time, for the same workload, and the caller owns them. An API server takes
// them as they are.
type Objects struct {
	// Namespaces are the names of the namespaces that the objects are spread
	// over; there must be one.
	Namespaces []string
	// PerApp is the number of Pods of an application, 50 if it is 0.
	PerApp int
	// Nodes is the number of Nodes that the Pods are on. If it is 0, Pods are
	// on none, and a scheduling gate keeps them from any: they are strangers in
	// a cluster of others.
	Nodes int
	// Labels are on all objects in namespaces, besides their own.
	Labels map[string]string
}

// Node returns the Node of number i, one of Nodes.
func (o Objects) Node(i int) *corev1.Node {
	name := o.nodeName(i)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zones[i%len(zones)]},
	}}
}

func (o Objects) nodeName(i int) string { return pods.NodeName(i % o.Nodes) }

// meta returns the metadata of object i, which is no Pod, and the application that
// it belongs to.
func (o Objects) meta(i int) (meta metav1.ObjectMeta, app string) {
	// Not i itself: its remainders for namespace and app would go together.
	number := spreadOf(i) % appsOfOthers
	app = pods.AppName(number)
	meta = metav1.ObjectMeta{
		Namespace: o.Namespaces[i%len(o.Namespaces)],
		Name:      fmt.Sprintf("%s-%s-%05d", app, hashOf(app), i),
		Labels: map[string]string{
			AppLabel:     app,
			VersionLabel: "v1.0.0",
			TierLabel:    pods.Tier(number),
		},
	}
	maps.Copy(meta.Labels, o.Labels)
	return meta, app
}

// spreadOf returns a number that looks random and is always the same for i.
func spreadOf(i int) int {
	hash := fnv.New32a()
	fmt.Fprint(hash, i)
	return int(hash.Sum32() >> 1)
}

// hashOf returns ten characters, as those that a Deployment puts into the names
// of its Pods.
func hashOf(app string) string {
	hash := fnv.New64a()
	fmt.Fprint(hash, app)
	return strconv.FormatUint(hash.Sum64(), 36)[:10]
}
