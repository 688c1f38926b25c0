package fleet_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// TestMemoryGoesWithTheCluster: when a cluster has left, nothing refers to its objects.
func TestMemoryGoesWithTheCluster(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		const many = 500
		var left, stayed []weak.Pointer[corev1.Pod]
		for _, cluster := range []string{"east", "west"} {
			var list []*corev1.Pod
			for i := range many {
				obj := at(fmt.Sprint("obj-", i), i+1)
				obj.Namespace = fmt.Sprint("ns-", i%100)
				list = append(list, obj)
				if cluster == "west" {
					left = append(left, weak.Make(obj))
				} else {
					stayed = append(stayed, weak.Make(obj))
				}
			}
			w.list(cluster, many, list...)
		}
		w.next()
		sink := w.of("west")
		for i := range 100 {
			sinktest.Put(sink, at(fmt.Sprint("more-", i), many+i), strconv.Itoa(many+i))
		}
		w.next()
		w.clusters.Remove("west")
		assert.Len(t, w.next(), many+100)
		assert.Equal(t, many, alive(stayed))
		assert.Zero(t, alive(left))
		assert.Equal(t, many, w.Len())
	})
}

// alive returns how many objects something refers to.
func alive(of []weak.Pointer[corev1.Pod]) (n int) {
	runtime.GC()
	runtime.GC()
	for _, obj := range of {
		if obj.Value() != nil {
			n++
		}
	}
	return n
}
