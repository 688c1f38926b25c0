package benchmarks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	nodes      = 1000
	namespaces = 100
)

// cluster makes the Pods of a cluster, always the same ones: so many to an
// application, each application in one of 100 namespaces, on 1,000 nodes at
// random.
//
// What identifies a Pod, and what indexes and selectors look at, is made anew
// for every Pod and version of it, down to the strings, as a decoder does:
// names, labels, node, address, resource version. The rest is shared by the
// Pods of an application, so that 100,000 of them fit into memory several
// times; neither side looks at it.
type cluster struct {
	size      int
	perApp    int
	templates []*corev1.Pod // more than a few differ in nothing that counts
}

func newCluster(size, perApp int) *cluster {
	c := &cluster{size: size, perApp: perApp}
	for app := range min(c.apps(), 50) {
		c.templates = append(c.templates, podTemplate(app))
	}
	return c
}

// apps returns the number of applications.
func (c *cluster) apps() int { return (c.size + c.perApp - 1) / c.perApp }

// pod returns Pod number i at a version; versions count from 1.
func (c *cluster) pod(i, version int) *corev1.Pod {
	app := i / c.perApp
	pod := *c.templates[app%len(c.templates)]
	pod.Name = appName(app) + "-" + templateHash(app) + "-" + suffix(i)
	pod.Namespace = namespaceName(app % namespaces)
	pod.UID = uidOf(i)
	pod.ResourceVersion = strconv.Itoa(version*10_000_000 + i)
	pod.Labels = map[string]string{
		"app":               appName(app),
		"tier":              tierOf(app),
		"pod-template-hash": templateHash(app),
	}
	pod.Spec.NodeName = nodeName(int(splitmix(uint64(i)) % nodes))
	pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", 64+i>>16, i>>8&255, i&255)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.HostIP = "10.0.0.1"
	return &pod
}

// pods returns all Pods at a version. They come in an order that is random, but
// always the same: a store that has been in use for a while has lost the order
// of its first list.
func (c *cluster) pods(version int) []*corev1.Pod {
	pods := make([]*corev1.Pod, c.size)
	for i, at := range c.shuffled(0) {
		pods[at] = c.pod(i, version)
	}
	return pods
}

// shuffled returns the numbers of the Pods in one of many random orders.
func (c *cluster) shuffled(order uint64) []int {
	return rand.New(rand.NewPCG(order, 1)).Perm(c.size)
}

// listOf returns pods as the answer to a list request. It is the type of list
// that client-go makes of one that came in pages. A *corev1.PodList would make
// the Reflector, which both sides use, copy every Pod.
func listOf(pods []*corev1.Pod, resourceVersion string) runtime.Object {
	list := &internalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: resourceVersion}}
	for _, pod := range pods {
		list.Items = append(list.Items, pod)
	}
	return list
}

func appName(app int) string { return fmt.Sprintf("service-%05d", app) }

func tierOf(app int) string {
	return strings.Clone([...]string{"frontend", "backend", "data"}[app%3])
}

func namespaceName(n int) string { return fmt.Sprintf("team-%02d", n) }

func nodeName(n int) string { return fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", n/250, n%250) }

func templateHash(app int) string { return encode(splitmix(uint64(app)), 10) }

// suffix returns what a ReplicaSet adds to the names of its Pods. The factor has
// no divisor in common with 27^5, so no two numbers give the same.
func suffix(i int) string { return encode(uint64(i)*7_368_787%(27*27*27*27*27), 5) }

// encode returns n in the letters that Kubernetes uses for generated names.
func encode(n uint64, length int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, length)
	for i := range b {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(b)
}

func uidOf(i int) types.UID {
	a, b := splitmix(uint64(i)), splitmix(uint64(i)+1<<32)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1)))
}

// splitmix is a hash of 64 bits: the generator SplitMix64 of Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func TestPodsAreAsLargeAsReal(t *testing.T) {
	c := newCluster(1000, 10)
	total := 0
	seen := map[string]bool{}
	for _, pod := range c.pods(1) {
		data, err := json.Marshal(pod)
		require.NoError(t, err)
		total += len(data)
		seen[pod.Namespace+"/"+pod.Name] = true
	}
	assert.InDelta(t, 7_000, total/c.size, 700, "bytes of JSON")
	assert.Len(t, seen, c.size, "names are unique")
}

func TestPodsAreAlwaysTheSame(t *testing.T) {
	assert.Equal(t, newCluster(300, 10).pods(2), newCluster(300, 10).pods(2))
}
