package index_test

import (
	"cmp"
	"iter"
	"math"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

func keysOf[K cmp.Ordered](keys iter.Seq[K]) []K { return slices.Sorted(keys) }

func TestRepeatedKeysCountOnce(t *testing.T) {
	address := byAddress()
	p := &pod{name: "p", addresses: []string{"a", "b", "a", "a", "b"}}
	store := newStore(t, []handle{address}, p)

	assert.Equal(t, []*pod{p}, address.Get("a"))
	assert.Equal(t, 1, address.Len("b"))
	assert.Equal(t, []string{"a", "b"}, keysOf(address.Keys()))

	p2 := &pod{name: "p", addresses: []string{"b", "b"}}
	store.Apply(nil, put(p2), "")
	assert.Empty(t, address.Get("a"))
	assert.Equal(t, []*pod{p2}, address.Get("b"))

	store.Apply(nil, remove(p2), "")
	assert.Empty(t, keysOf(address.Keys()))
}

func TestTheSliceOfTheIndexFunctionIsNotKept(t *testing.T) {
	var shared [1]string
	x := index.New("reused", func(p *pod) []string {
		shared[0] = p.node
		return shared[:]
	})
	a, b := &pod{name: "a", node: "n1"}, &pod{name: "b", node: "n2"}
	newStore(t, []handle{x}, a, b)
	assert.Equal(t, []*pod{a}, x.Get("n1"))
	assert.Equal(t, []*pod{b}, x.Get("n2"))
}

func TestSlicesBelongToTheCaller(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node}, &pod{name: "a", node: "n1"}, &pod{name: "b", node: "n1"})
	snapshot := store.Snapshot()
	for _, list := range [][]*pod{
		store.List(), node.Get("n1"), snapshot.List(), node.In(snapshot).Get("n1"),
	} {
		require.Len(t, list, 2)
		clear(list)
		_ = append(list[:1], &pod{name: "c"})
	}
	assert.NotContains(t, store.List(), (*pod)(nil))
	assert.NotContains(t, node.Get("n1"), (*pod)(nil))
	assert.NotContains(t, snapshot.List(), (*pod)(nil))
}

// TestKeysOfAnyComparableType uses a key that holds a pointer, and one of
// several fields.
func TestKeysOfAnyComparableType(t *testing.T) {
	type place struct {
		node  string
		owner index.Key
		shard [2]uint8
	}
	ip := index.New("ip", func(p *pod) []netip.Addr {
		var ips []netip.Addr
		for _, a := range p.addresses {
			ips = append(ips, netip.MustParseAddr(a))
		}
		return ips
	})
	at := index.Single("place", func(p *pod) (place, bool) {
		return place{p.node, index.Key{Name: p.labels["owner"]}, [2]uint8{1, uint8(p.version)}}, true
	})
	a := &pod{name: "a", node: "n1", labels: map[string]string{"owner": "web"}, addresses: []string{"10.0.0.1", "fe80::1%eth0"}}
	b := &pod{name: "b", node: "n1", labels: map[string]string{"owner": "web"}, addresses: []string{"10.0.0.2", "::ffff:10.0.0.1"}, version: 1}
	newStore(t, []handle{ip, at}, a, b)

	assert.Equal(t, []*pod{a}, ip.Get(netip.AddrFrom4([4]byte{10, 0, 0, 1})))
	assert.Equal(t, []*pod{b}, ip.Get(netip.MustParseAddr("::ffff:10.0.0.1")), "another address than 10.0.0.1")
	assert.Equal(t, []*pod{a}, ip.Get(netip.MustParseAddr("fe80::1%eth0")))
	assert.Empty(t, ip.Get(netip.MustParseAddr("fe80::1")))
	assert.Equal(t, []*pod{b}, at.Get(place{"n1", index.Key{Name: "web"}, [2]uint8{1, 1}}))
	assert.Empty(t, at.Get(place{"n1", index.Key{Name: "web"}, [2]uint8{1, 2}}))
}

// TestFloatKeysThatEqualNothing files objects under NaN, which cannot be
// looked up; they come and go without harm to the others. Both zeros are one
// key.
func TestFloatKeysThatEqualNothing(t *testing.T) {
	nan, negativeZero := math.NaN(), math.Copysign(0, -1)
	load := index.New("load", func(p *pod) []float64 {
		switch p.node {
		case "nan":
			return []float64{nan}
		case "nans":
			return []float64{nan, 0.5, nan}
		case "-0":
			return []float64{negativeZero}
		default:
			return []float64{0.5, 0}
		}
	})
	store := newStore(t, []handle{load})
	for round := range 50 {
		batch := []*pod{
			{name: "a", node: "nan"}, {name: "b", node: "nans"}, {name: "c", node: "-0"}, {name: "d"},
		}
		if round%2 == 1 {
			batch[0].node, batch[1].node = batch[1].node, batch[0].node
		}
		store.Apply(nil, put(batch...), "")
		assert.Empty(t, load.Get(nan))
		assert.Len(t, load.Get(0.5), 2)
		assert.ElementsMatch(t, batch[2:], load.Get(0))
		assert.ElementsMatch(t, batch[2:], load.Get(negativeZero))
		nans := 0
		for k := range load.Keys() {
			if k != k {
				nans++
			}
		}
		assert.Equal(t, 3, nans)
		if round%5 == 0 {
			store.Apply(nil, remove(batch[0], batch[1]), "")
			assert.Len(t, slices.Collect(load.Keys()), 2)
		}
	}
}

// TestModifiedObjectsDoNotDamageTheIndex breaks the rule and modifies a cached object, including
// its name. The store keeps the keys computed when it stored the object.
func TestModifiedObjectsDoNotDamageTheIndex(t *testing.T) {
	node, address := byNode(), byAddress()
	p := &pod{namespace: "default", name: "p", node: "n1", addresses: []string{"a1", "a2"}}
	q := &pod{namespace: "default", name: "q", node: "n1", addresses: []string{"a1"}}
	store := newStore(t, []handle{node, address}, p, q)
	key := index.KeyOf(p)

	p.name, p.namespace, p.node, p.addresses[0] = "changed", "changed", "n2", "a3"

	got, ok := store.Get(key)
	require.True(t, ok)
	assert.Same(t, p, got)
	assert.ElementsMatch(t, []index.Key{key, index.KeyOf(q)}, slices.Collect(store.Keys()))
	assert.Len(t, node.Get("n1"), 2)
	assert.Empty(t, node.Get("n2"))

	next := &pod{namespace: "default", name: "p", node: "n3", addresses: []string{"a4"}}
	store.Apply(nil, put(next), "")
	assert.Equal(t, []*pod{q}, node.Get("n1"))
	assert.Equal(t, []string{"a1", "a4"}, keysOf(address.Keys()))
	assert.Equal(t, []*pod{q}, address.Get("a1"))

	next.addresses[0], next.node = "a5", "n5"
	store.Replace(nil, []*pod{q}, "", index.Relisted)
	check(t, model{index.KeyOf(q): q}, store)
	assert.Equal(t, []string{"n1"}, keysOf(node.Keys()))
	assert.Equal(t, []string{"a1"}, keysOf(address.Keys()))
}

// TestIndexFunctionsRunOnceForAnObject counts the calls.
func TestIndexFunctionsRunOnceForAnObject(t *testing.T) {
	calls := 0
	x := index.Single("counted", func(p *pod) (string, bool) { calls++; return p.node, true })
	a, b := &pod{name: "a", node: "n1"}, &pod{name: "b", node: "n2"}
	store := newStore(t, []handle{x}, a, b)
	require.Equal(t, 2, calls)

	store.Apply(nil, remove(a), "")
	store.Apply(nil, remove(a), "")
	x.Get("n1")
	store.Snapshot()
	require.Equal(t, 2, calls, "deletions and reads need no keys")

	store.Replace(nil, []*pod{a, b}, "", index.Relisted)
	assert.Equal(t, 4, calls)
}
