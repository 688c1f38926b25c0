package index_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

var _ = []index.Reader[*pod]{(*index.Indexer[*pod])(nil), (*index.Snapshot[*pod])(nil)}

func TestSnapshotIsTheSameUntilAWrite(t *testing.T) {
	node := byNode()
	p := &pod{name: "p", node: "n1"}
	store := newStore(t, []handle{node}, p)
	taken := store.Snapshot()
	assert.Same(t, taken, store.Snapshot())
	assert.Same(t, taken, taken.Snapshot())
	store.List()
	node.Get("n1")
	assert.Same(t, taken, store.Snapshot(), "reads change nothing")

	for name, write := range map[string]func(){
		"apply":    func() { store.Apply(nil, put(p), "") },
		"replace":  func() { store.Replace(nil, []*pod{p}, "2", index.Relisted) },
		"bookmark": func() { store.SetResourceVersion("3") },
		"index":    func() { assert.NoError(t, store.AddIndexes(byAddress())) },
		"empty":    func() { store.Replace(nil, nil, "4", index.Relisted) },
	} {
		before := store.Snapshot()
		write()
		assert.NotSame(t, before, store.Snapshot(), name)
	}
	assert.Equal(t, []*pod{p}, taken.List())
	assert.Equal(t, "1", taken.ResourceVersion())
	assert.Equal(t, []*pod{p}, node.In(taken).Get("n1"))
}

// TestSnapshotsOfEveryStep keeps a snapshot of each of many small steps that
// all touch the same pages, and looks at all of them in the end.
func TestSnapshotsOfEveryStep(t *testing.T) {
	node, address := byNode(), byAddress()
	store := newStore(t, []handle{node, address})
	m := model{}
	var steps []frozen
	x := &indexes{node, address, index.Labels[*pod]("app"), byPart()}
	require.NoError(t, store.AddIndexes(x.label, x.part))
	for i := range 60 {
		p := &pod{
			namespace: namespaces[i%3], name: string(rune('a' + i*7%11)), version: i,
			node: nodes[i*5%4], addresses: addresses[i%3 : i%3+i%2+1],
			labels: map[string]string{"app": apps[i%3]},
		}
		if i%4 == 3 {
			store.Apply(nil, remove(p), "")
			delete(m, index.KeyOf(p))
		} else {
			store.Apply(nil, put(p), "")
			m[index.KeyOf(p)] = p
		}
		steps = append(steps, frozen{store.Snapshot(), maps.Clone(m)})
	}
	for _, step := range steps {
		check(t, step.model, step.snapshot)
		checkIndexes(t, step.model, x, step.snapshot)
	}
}

func TestTheZeroViewIsEmpty(t *testing.T) {
	var view index.View[string, *pod]
	assert.Nil(t, view.Get("k"))
	assert.Zero(t, view.Len("k"))
	for range view.All("k") {
		t.Fail()
	}
	for range view.Keys() {
		t.Fail()
	}
}
