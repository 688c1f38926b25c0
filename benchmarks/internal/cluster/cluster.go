// Package cluster makes what benchmarks are fed with: the Pods of a cluster,
// their changes, and a server in memory that lists and watches them.
package cluster

import (
	"math/rand/v2"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/test/pods"
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
type Cluster struct {
	// Size is the number of Pods.
	Size int
	// PerApp is the number of Pods of an application, fewer in the last one.
	PerApp    int
	made      pods.Cluster
	templates []*corev1.Pod // more than a few differ in nothing that counts
}

// New returns a cluster of size Pods, perApp to an application.
func New(size, perApp int) *Cluster { return NewSeeded(size, perApp, 0) }

// NewSeeded returns a cluster that differs from those of other seeds in all that is random.
func NewSeeded(size, perApp int, seed uint64) *Cluster {
	c := &Cluster{Size: size, PerApp: perApp, made: pods.Cluster{Seed: seed, PerApp: perApp, Nodes: Nodes}}
	for n := range Namespaces {
		c.made.Namespaces = append(c.made.Namespaces, NamespaceName(n))
	}
	for app := range min(c.apps(), 50) {
		c.templates = append(c.templates, c.Whole(app*perApp, 1))
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
		names = append(names, pods.AppName(app))
	}
	return names
}

// Whole returns Pod number i at a version as a server sends it; versions count
// from 1. It shares nothing with any other.
func (c *Cluster) Whole(i, version int) *corev1.Pod { return c.made.Pod(i, version) }

// Pod returns Pod number i at a version for code that does not look into it, such as stores. The
// fields that identify it, and those that indexes and selectors read, are new for every Pod and
// version, down to the strings, as from a decoder: names, labels, node, addresses, resource
// version. The rest is shared by the Pods of an application, so that 100,000 of them fit into
// memory several times.
func (c *Cluster) Pod(i, version int) *corev1.Pod {
	return c.made.Outline(c.templates[i/c.PerApp%len(c.templates)], i, version)
}

// Pods returns all Pods at a version. They come in an order that is random, but
// always the same: a store that has been in use for a while has lost the order
// of its first list.
func (c *Cluster) Pods(version int) []*corev1.Pod {
	all, order := make([]*corev1.Pod, c.Size), c.Shuffled(0)
	makers := runtime.GOMAXPROCS(0) // a million of them take one a while
	var making sync.WaitGroup
	for first := range makers {
		making.Go(func() {
			for i := first; i < c.Size; i += makers {
				all[order[i]] = c.Pod(i, version)
			}
		})
	}
	making.Wait()
	return all
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
