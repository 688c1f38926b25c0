package index_test

import (
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// pod is a projection such as a user would cache: it has what is looked up.
type pod struct {
	namespace, name string
	uid             string
	version         int
	node            string
	addresses       []string
	labels          map[string]string
}

func (p *pod) GetName() string              { return p.name }
func (p *pod) GetNamespace() string         { return p.namespace }
func (p *pod) GetLabels() map[string]string { return p.labels }
func (p *pod) String() string               { return p.namespace + "/" + p.name + "@" + strconv.Itoa(p.version) }

func byNode() *index.Index[string, *pod] {
	return index.Single("node", func(p *pod) (string, bool) { return p.node, p.node != "" })
}

func byAddress() *index.Index[string, *pod] {
	return index.New("address", func(p *pod) []string { return p.addresses })
}

func byVersion() *index.Ordered[int, *pod] {
	return index.NewOrdered("version", func(p *pod) (int, bool) { return p.version, p.version >= 0 })
}

// newStore returns a store that holds objs, with indexes.
func newStore(t require.TestingT, indexes []index.Definition[*pod], objs ...*pod) *index.Indexer[*pod] {
	store := index.NewIndexer[*pod]()
	require.NoError(t, store.AddIndexes(indexes...))
	store.Apply(nil, put(objs...), "1")
	return store
}

func put(objs ...*pod) []index.Change[*pod] {
	changes := make([]index.Change[*pod], len(objs))
	for i, obj := range objs {
		changes[i] = index.Change[*pod]{Object: obj, Reason: index.Watched}
	}
	return changes
}

func remove(objs ...*pod) []index.Change[*pod] {
	changes := put(objs...)
	for i := range changes {
		changes[i].Delete = true
	}
	return changes
}
