package benchmarks

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkInitialSync measures the start of an informer with two indexes and
// one handler: from the moment at which the server's list has arrived to the
// handler's last call.
func BenchmarkInitialSync(b *testing.B) {
	for _, objects := range []int{100_000} {
		list := cluster.ListOf(cluster.New(objects, 100).Pods(1), "1")
		for _, s := range allSides {
			b.Run(fmt.Sprintf("objects=%d/impl=%s", objects, s.impl), func(b *testing.B) {
				benchmarkSync(b, s, list, objects)
			})
		}
	}
}

func benchmarkSync(b *testing.B, s side, list k8sruntime.Object, objects int) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		last := make(chan struct{})
		r, _ := start(b, s, true, calls{add: nth(objects, last)})
		runtime.GC() // what earlier rounds have left behind
		r.Answer(list, b.StartTimer)
		<-last
		b.StopTimer()
		r.stop()
		b.StartTimer()
	}
}

// nth returns a function that closes last in its n-th call.
func nth(n int, last chan<- struct{}) func(*corev1.Pod) {
	return func(*corev1.Pod) {
		if n--; n == 0 {
			close(last)
		}
	}
}
