//go:build unix

package index_test

import (
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestCostsAreLinear makes each call that involves n keys, for two sizes of n, the larger ten times
// the other. A call that walks n keys for each of them takes a hundred times as long, and others
// ten to fourteen times. It measures CPU time, as a busy machine delays long calls more often than
// short ones, and takes the shortest of several runs, in turn, with more runs where that is too
// long.
func TestCostsAreLinear(t *testing.T) {
	const small, limit = 2000, 40
	for name, prepare := range map[string]func(t require.TestingT, n int) (do func()){
		"delete an object with n shared keys":    deleteAmongSharedKeys,
		"change n shared keys of an object":      changeSharedKeys,
		"find what is under any of n keys":       findUnderManyKeys,
		"find what is under two sets of n keys":  intersectManyKeys,
		"read the n keys of objects of an index": readKeysOfObjects,
	} {
		t.Run(name, func(t *testing.T) {
			few, many := prepare(t, small), prepare(t, 10*small)
			shortest := []time.Duration{time.Hour, time.Hour}
			ratio := func() float64 { return float64(shortest[1]) / float64(shortest[0]) }
			for round := 0; round < 7 || round < 70 && ratio() >= limit; round++ {
				for i, do := range []func(){few, many} {
					begin := cpuTime(t)
					do()
					shortest[i] = min(shortest[i], cpuTime(t)-begin)
				}
			}
			assert.Less(t, ratio(), float64(limit), "%v, and %v for ten times as much", shortest[0], shortest[1])
		})
	}
}

// cpuTime returns the time that processors have spent on this process so far.
func cpuTime(t require.TestingT) time.Duration {
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// sharedKeys returns a store with two objects that are filed under the same n keys.
func sharedKeys(t require.TestingT, n int) (store *index.Indexer[*pod], p, q *pod) {
	keys := numbers(n)
	store = newStore(t, []handle{index.New("number", func(p *pod) []int { return keys[p.version:] })})
	p, q = &pod{name: "p"}, &pod{name: "q"}
	store.Apply(nil, put(p, q), "1")
	return store, p, q
}

func deleteAmongSharedKeys(t require.TestingT, n int) func() {
	store, p, q := sharedKeys(t, n)
	return func() {
		for _, first := range []*pod{p, q} { // of those that are filed under a key
			store.Apply(nil, remove(first), "")
			store.Apply(nil, put(first), "")
		}
	}
}

func changeSharedKeys(t require.TestingT, n int) func() {
	store, p, q := sharedKeys(t, n)
	return func() {
		for _, first := range []*pod{p, q} {
			store.Apply(nil, put(&pod{name: first.name, version: n / 2}), "")
			store.Apply(nil, put(first), "")
		}
	}
}

// manyKeys returns n objects, each of which is filed under two keys in each of two
// indexes, and those keys.
func manyKeys(t require.TestingT, n int) (one, other *index.Index[int, *pod], keys []int) {
	number := func(p *pod) []int { return []int{p.version, (p.version + 1) % n} }
	one, other = index.New("one", number), index.New("other", number)
	store := newStore(t, []handle{one, other})
	objs := make([]*pod, n)
	keys = numbers(n)
	for i := range objs {
		objs[i] = &pod{name: strconv.Itoa(i), version: i}
	}
	store.Replace(nil, objs, "1", index.Initial)
	return one, other, keys
}

func findUnderManyKeys(t require.TestingT, n int) func() {
	one, _, keys := manyKeys(t, n)
	return func() { require.Len(t, slices.Collect(index.Intersect(one.Is(keys...))), n) }
}

func intersectManyKeys(t require.TestingT, n int) func() {
	one, other, keys := manyKeys(t, n)
	return func() {
		require.Len(t, slices.Collect(index.Intersect(one.Is(keys...), other.Is(keys...))), n)
	}
}

func readKeysOfObjects(t require.TestingT, n int) func() {
	all := index.Single("all", func(*pod) (bool, bool) { return true, true })
	store := newStore(t, []handle{all})
	objs := make([]*pod, n)
	for i := range objs {
		objs[i] = &pod{name: strconv.Itoa(i)}
	}
	store.Replace(nil, objs, "1", index.Initial)
	return func() { require.Len(t, all.KeyStrings(true), n) }
}
