// Package cluster makes what benchmarks are fed with: the Pods of a cluster,
// their changes, and a server in memory that lists and watches them.
package cluster

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// Nodes is the number of nodes of every cluster.
	Nodes = 1000
	// Namespaces is the number of namespaces of a cluster that has as many
	// applications.
	Namespaces = 100
)

// Cluster makes the Pods of a cluster, always the same ones: so many to an
// application, each application in one of 100 namespaces, on 1,000 nodes at
// random. It does not keep them.
//
// What identifies a Pod, and what indexes and selectors look at, is made anew
// for every Pod and version of it, down to the strings, as a decoder does:
// names, labels, node, address, resource version. The rest is shared by the
// Pods of an application, so that 100,000 of them fit into memory several
// times; no side looks at it.
type Cluster struct {
	// Size is the number of Pods.
	Size int
	// PerApp is the number of Pods of an application, fewer in the last one.
	PerApp    int
	templates []*corev1.Pod // more than a few differ in nothing that counts
}

// New returns a cluster of size Pods, perApp to an application.
func New(size, perApp int) *Cluster {
	c := &Cluster{Size: size, PerApp: perApp}
	for app := range min(c.apps(), 50) {
		c.templates = append(c.templates, podTemplate(app))
	}
	return c
}

// apps returns the number of applications.
func (c *Cluster) apps() int { return (c.Size + c.PerApp - 1) / c.PerApp }

// Apps returns the names of all applications in random order: what the Pods
// have as their label app.
func (c *Cluster) Apps() []string {
	var names []string
	for _, app := range rand.New(rand.NewPCG(3, 3)).Perm(c.apps()) {
		names = append(names, appName(app))
	}
	return names
}

// Pod returns Pod number i at a version; versions count from 1.
func (c *Cluster) Pod(i, version int) *corev1.Pod {
	app := i / c.PerApp
	pod := *c.templates[app%len(c.templates)]
	pod.Name = PodName(app, i)
	pod.Namespace = NamespaceName(app % Namespaces)
	pod.UID = uidOf(i)
	pod.ResourceVersion = strconv.Itoa(version*10_000_000 + i)
	pod.Labels = map[string]string{
		"app":               appName(app),
		"tier":              tierOf(app),
		"pod-template-hash": templateHash(app),
	}
	pod.Spec.NodeName = NodeName(int(splitmix(uint64(i)) % Nodes))
	pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", 64+i>>16, i>>8&255, i&255)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.HostIP = "10.0.0.1"
	return &pod
}

// Pods returns all Pods at a version. They come in an order that is random, but
// always the same: a store that has been in use for a while has lost the order
// of its first list.
func (c *Cluster) Pods(version int) []*corev1.Pod {
	pods, order := make([]*corev1.Pod, c.Size), c.Shuffled(0)
	makers := runtime.GOMAXPROCS(0) // a million of them take one a while
	var making sync.WaitGroup
	for first := range makers {
		making.Go(func() {
			for i := first; i < c.Size; i += makers {
				pods[order[i]] = c.Pod(i, version)
			}
		})
	}
	making.Wait()
	return pods
}

// Shuffled returns the numbers of the Pods in one of many random orders.
func (c *Cluster) Shuffled(order uint64) []int {
	return rand.New(rand.NewPCG(order, 1)).Perm(c.Size)
}

// Updates returns n watch events, each of them a new version of a Pod. Every Pod
// is updated before one is updated again, in random order.
func (c *Cluster) Updates(n int) []watch.Event {
	events := make([]watch.Event, 0, n)
	for version := 2; ; version++ {
		for _, i := range c.Shuffled(uint64(version)) {
			if len(events) == n {
				return events
			}
			events = append(events, watch.Event{Type: watch.Modified, Object: c.Pod(i, version)})
		}
	}
}

// PodOf returns the Pod of an event that Updates made.
func PodOf(event watch.Event) *corev1.Pod { return event.Object.(*corev1.Pod) }

// Newer returns two newer versions of each of n Pods, all of the first before the
// second.
func (c *Cluster) Newer(n int) []*corev1.Pod {
	var newer []*corev1.Pod
	for version := 2; version <= 3; version++ {
		for _, i := range c.Shuffled(2)[:n] {
			newer = append(newer, c.Pod(i, version))
		}
	}
	return newer
}
