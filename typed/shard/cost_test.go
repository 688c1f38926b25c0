package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// TestCostOfLeases: a group at rest makes a list and a write for each member every 2/15 of
// the lease duration, and its Leases are small.
func TestCostOfLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members = 20
		store := newLeaseStore()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, members)
		for i := range members {
			g, err := newGroup(&leaseClient{leaseStore: store}, "ns", "group", []Option{WithIdentity(fmt.Sprintf("controller-7d4b9c6f5-%05d", i))})
			require.NoError(t, err)
			go func() { ended <- g.Run(ctx) }()
		}
		time.Sleep(2 * time.Minute)
		store.mu.Lock()
		clear(store.requests)
		store.mu.Unlock()
		time.Sleep(time.Minute)
		store.mu.Lock()
		lists, updates, size := store.requests["list"], store.requests["update"], 0
		for _, l := range store.leases {
			text, err := json.Marshal(l)
			require.NoError(t, err)
			size = max(size, len(text))
		}
		store.mu.Unlock()
		t.Logf("%d members: %d lists and %d writes a minute, Leases of %d bytes of JSON", members, lists, updates, size)
		assert.InDelta(t, members*30, lists, members)
		assert.InDelta(t, members*30, updates, members)
		assert.Less(t, size, 1024)
		stop()
		for range members {
			assert.NoError(t, <-ended)
		}
	})
}

func pod(i int) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name = fmt.Sprintf("namespace-%d", i%100), fmt.Sprintf("deployment-7d4b9c6f5-%05d", i)
	p.UID = types.UID(fmt.Sprintf("%08x-1b2c-4d5e-8f90-%012x", uint64(i)*2654435761, i))
	return p
}

// BenchmarkHash is what it costs to find the range of an object that was received.
func BenchmarkHash(b *testing.B) {
	p := pod(1)
	for _, h := range []Hash{UID(), Key(), OwnerKey()} {
		b.Run(h.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value, _ := h.value(p)
				_ = rangeOf(value)
			}
		})
	}
}

// BenchmarkPlaces is what it costs to remember where an object is from.
func BenchmarkPlaces(b *testing.B) {
	const n = 100_000
	keys := make([]index.Key, n)
	for i := range keys {
		keys[i] = index.KeyOf(pod(i))
	}
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		places := map[index.Key]place[*corev1.Pod]{}
		for _, key := range keys {
			places[key] = place[*corev1.Pod]{r: 1}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/object")
		runtime.KeepAlive(places)
	}
}

// BenchmarkAssign is what a round of a group of fifty computes.
func BenchmarkAssign(b *testing.B) {
	members := make([]holder, 50)
	for i := range members {
		members[i].name = fmt.Sprint(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		assign(members)
	}
}

// TestSpread: how even shares are: by UID and by Key they are, and by names of namespaces
// that differ in the last letter alone they are not, since the server's hash is none.
func TestSpread(t *testing.T) {
	var uids, keys, namespaces [rangeCount]int
	for i := range 100_000 {
		uids[rangeOf(string(pod(i).UID))]++
		keys[mixedRangeOf(joined(index.KeyOf(pod(i))))]++
	}
	for i := range 1000 {
		namespaces[rangeOf(fmt.Sprintf("tenant-%d", i))]++
	}
	used := func(counts [rangeCount]int) (n, most int) {
		for _, c := range counts {
			if c > 0 {
				n++
			}
			most = max(most, c)
		}
		return n, most
	}
	for name, counts := range map[string][rangeCount]int{"UID": uids, "Key": keys} {
		n, most := used(counts)
		t.Logf("%s: %d ranges are used, the largest has %d of %d on average", name, n, most, 100_000/rangeCount)
		assert.Equal(t, rangeCount, n)
		assert.Less(t, most, 600)
	}
	n, most := used(namespaces)
	t.Logf("tenant-0 to tenant-999: %d ranges are used, the largest has %d of 1000", n, most)
}
