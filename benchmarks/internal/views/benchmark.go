package views

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/ring"
)

// large is the cluster of most benchmarks, policed that of policies: the shape of
// istio/istio#60366.
var (
	large   = sync.OnceValue(func() *World { return NewWorld(100_000, 10, 0) })
	policed = sync.OnceValue(func() *World { return NewWorld(10_000, 20, 500) })
)

// Initial measures computing the endpoints of 10,000 Services with 100,000 Pods: from
// lists, with the informers; and from informers, or what a side has in their place, that
// have their objects. live-B is the heap of all of it, beyond the objects, when it is done.
func Initial(b *testing.B, sides ...Side) {
	w := large()
	for _, from := range []string{"lists", "inputs"} {
		for _, s := range sides {
			b.Run(fmt.Sprintf("from=%s/impl=%s", from, s.Impl), func(b *testing.B) { initial(b, s, w, from) })
		}
	}
}

func initial(b *testing.B, s Side, w *World, from string) {
	before := liveHeap()
	var heap int64
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		if from == "lists" {
			b.StartTimer()
		}
		r := s.Endpoints(w.Services, w.Pods)
		b.StartTimer()
		m := newMeter()
		m.expect(len(w.Services))
		r.Compute(func(_, _ *Endpoints) { m.add() })
		m.wait()
		b.StopTimer()
		heap = liveHeap() - before
		r.Stop()
		b.StartTimer()
	}
	if from == "lists" {
		b.ReportMetric(float64(heap), "live-B")
	}
}

// liveHeap returns the bytes of live objects. The second collection takes what the first
// one left in pools.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// bursts are how many changes an operation has: one, and many that come at once.
var bursts = []int{1, 1000}

// PodChange measures changes of the readiness of Pods, each in another Service of 10,000
// with 100,000 Pods, from the watch until the handlers have all endpoints that change.
func PodChange(b *testing.B, sides ...Side) {
	w := large()
	changes := w.PodChanges(2000)
	inBursts(b, bursts, sides, func(b *testing.B, s Side, burst int) {
		r := s.Endpoints(w.Services, w.Pods)
		defer r.Stop()
		measure(b, r, len(w.Services), changes, burst, r.PutRight, nil)
	})
}

// inBursts runs a benchmark for each side and each number of changes of an operation.
func inBursts(b *testing.B, bursts []int, sides []Side, run func(b *testing.B, s Side, burst int)) {
	for _, burst := range bursts {
		for _, s := range sides {
			b.Run(fmt.Sprintf("changes=%d/impl=%s", burst, s.Impl), func(b *testing.B) { run(b, s, burst) })
		}
	}
}

// SelectorChange is PodChange for the selectors of Services.
func SelectorChange(b *testing.B, sides ...Side) {
	w := large()
	changes := w.ServiceChanges(1000)
	inBursts(b, bursts, sides, func(b *testing.B, s Side, burst int) {
		r := s.Endpoints(w.Services, w.Pods)
		defer r.Stop()
		measure(b, r, len(w.Services), changes, burst, r.PutLeft, nil)
	})
}

// NodeChange measures changes of Nodes that have about 100 Pods each, of 1,000, until the
// handlers have the placements of all of these.
func NodeChange(b *testing.B, sides ...Side) {
	w := large()
	changes, on := w.NodeChanges(100), w.OnNode()
	inBursts(b, []int{1, 10}, sides, func(b *testing.B, s Side, burst int) {
		r := s.Placements(w.Pods, w.Nodes)
		defer r.Stop()
		measure(b, r, len(w.Pods), changes, burst, r.PutRight, func(node *corev1.Node) int { return on[node.Name] })
	})
}

// measure sends changes, in bursts, and waits until all results that these lead to have come. A
// change leads to as many as results returns, one if that is nil.
func measure[L, R, Out, C any](b *testing.B, r Running[L, R, Out], initial int, changes []C, burst int, put func(C), results func(C) int) {
	m := newMeter()
	m.expect(initial)
	r.Compute(func(_, _ Out) { m.add() })
	m.wait()
	forth := ring.Of(changes)
	next := make([]C, burst)
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		expected := 0
		for i := range next {
			next[i] = forth.Next()
			if results == nil {
				expected++
			} else {
				expected += results(next[i])
			}
		}
		m.expect(expected)
		for _, change := range next {
			put(change)
		}
		m.wait()
	}
}

// Policies measures how long it takes until everything has settled when all of 500
// policies, or all of 10,000 Pods, have changed. Every other policy selects all Pods of
// its namespace, the others those of an application.
func Policies(b *testing.B, sides ...Side) {
	w := policed()
	for _, s := range sides {
		b.Run("change=policies/impl="+s.Impl, func(b *testing.B) {
			r := s.Applied(w.Pods, w.Policies)
			defer r.Stop()
			settle(b, r, len(w.Pods), w.selected(), w.PolicyChanges(), r.PutRight, func(a *Applied, version byte) bool {
				for _, p := range a.Policies {
					if p.Version[0] != version {
						return false
					}
				}
				return len(a.Policies) > 0
			})
		})
	}
	for _, s := range sides {
		b.Run("change=pods/impl="+s.Impl, func(b *testing.B) {
			r := s.Applied(w.Pods, w.Policies)
			defer r.Stop()
			settle(b, r, len(w.Pods), len(w.Pods), w.AllPodChanges(), r.PutLeft, func(a *Applied, version byte) bool {
				return a.PodVersion[0] == version
			})
		})
	}
}

// settle makes the first half of changes, then the second, and so on, and waits each
// time until so many results are of the new version, whose first digit is 2 and 3 in
// turn. There may be results in between that are of both.
func settle[L, R, C any](b *testing.B, r Running[L, R, *Applied], initial, settled int, changes []C, put func(C), isOf func(a *Applied, version byte) bool) {
	m := newMeter()
	m.expect(initial)
	var version atomic.Uint32
	r.Compute(func(old, now *Applied) {
		if v := byte(version.Load()); old == nil || isOf(now, v) && !isOf(old, v) {
			m.add()
		}
	})
	m.wait()
	runtime.GC()
	b.ReportAllocs()
	for half := 0; b.Loop(); half = 1 - half {
		version.Store(uint32('2' + half))
		m.expect(settled)
		n := len(changes) / 2
		for _, change := range changes[half*n : (half+1)*n] {
			put(change)
		}
		m.wait()
	}
}
