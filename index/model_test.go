package index_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
)

// model is what an Indexer is meant to be: a map, searched from end to end.
type model map[index.Key]*pod

func (m model) where(keep func(*pod) bool) []*pod {
	var found []*pod
	for _, p := range m {
		if keep(p) {
			found = append(found, p)
		}
	}
	return found
}

func sorted(pods []*pod) []string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.String()
	}
	slices.Sort(names)
	return names
}

func sortedKeys(keys iter.Seq[index.Key]) []string {
	var texts []string
	for key := range keys {
		texts = append(texts, key.String())
	}
	slices.Sort(texts)
	return texts
}

func onNode(node string) func(*pod) bool {
	return func(p *pod) bool { return p.node == node }
}

func withAddress(address string) func(*pod) bool {
	return func(p *pod) bool { return slices.Contains(p.addresses, address) }
}

// indexes are the handles under test.
type indexes struct {
	node, address *index.Index[string, *pod]
	label         *index.Index[index.Label, *pod]
	part          *index.Index[part, *pod]
}

var (
	namespaces = []string{"", "default", "kube-system"}
	nodes      = []string{"", "n1", "n2", "n3"}
	addresses  = []string{"a1", "a2", "a3", "a4"}
	apps       = []string{"", "web", "db"}
)

func drawPod(t *rapid.T, version int) *pod {
	p := &pod{
		namespace: rapid.SampledFrom(namespaces).Draw(t, "namespace"),
		name:      fmt.Sprintf("p%d", rapid.IntRange(0, 40).Draw(t, "name")),
		version:   version,
		node:      rapid.SampledFrom(nodes).Draw(t, "node"),
		addresses: rapid.SliceOfN(rapid.SampledFrom(addresses), 0, 5).Draw(t, "addresses"),
	}
	if app := rapid.SampledFrom(apps).Draw(t, "app"); app != "" {
		p.labels = map[string]string{"app": app}
	}
	return p
}

// check compares everything that can be read with the model.
func check(t require.TestingT, m model, r index.Reader[*pod]) {
	require.Equal(t, len(m), r.Len())
	require.Equal(t, sorted(m.where(func(*pod) bool { return true })), sorted(r.List()))
	require.Equal(t, sortedKeys(maps.Keys(m)), sortedKeys(r.Keys()))
	for key, p := range m {
		got, ok := r.Get(key)
		require.True(t, ok)
		require.Same(t, p, got)
	}
	_, ok := r.Get(index.Key{Namespace: "default", Name: "absent"})
	require.False(t, ok)
	for _, ns := range namespaces {
		want := m.where(func(p *pod) bool { return p.namespace == ns })
		require.Equal(t, sorted(want), sorted(slices.Collect(r.InNamespace(ns))))
		require.Equal(t, sorted(want), sorted(r.ListNamespace(ns)))
	}
	for _, ns := range []string{"", "default"} {
		selector := labels.SelectorFromSet(labels.Set{"app": "web"})
		want := m.where(func(p *pod) bool { return (ns == "" || p.namespace == ns) && p.labels["app"] == "web" })
		var got []*pod
		for p := range r.Candidates(ns, selector) {
			if selector.Matches(labels.Set(p.labels)) && (ns == "" || p.namespace == ns) {
				got = append(got, p)
			}
		}
		require.Equal(t, sorted(want), sorted(got))
	}
}

// lookUps are those that an index has, and a view of it.
type lookUps interface {
	Get(k string) []*pod
	All(k string) iter.Seq[*pod]
	One(k string) (*pod, int)
	Has(k string) bool
	Len(k string) int
	Keys() iter.Seq[string]
}

// checkLookUps compares what is found under a key with the objects that should be.
func checkLookUps(t require.TestingT, want []*pod, in lookUps, k string) {
	require.Equal(t, sorted(want), sorted(in.Get(k)), "key %s", k)
	require.Equal(t, sorted(want), sorted(slices.Collect(in.All(k))), "key %s", k)
	require.Equal(t, len(want), in.Len(k))
	require.Equal(t, len(want) > 0, in.Has(k))
	one, n := in.One(k)
	require.Equal(t, len(want), n)
	require.Equal(t, n > 0, slices.Contains(want, one))
	require.Equal(t, n == 0, one == nil)
}

// checkIndexes compares the look-ups through the handles, in s or live, with
// the model.
func checkIndexes(t require.TestingT, m model, x *indexes, s *index.Snapshot[*pod]) {
	var byNode, byAddress lookUps = x.node, x.address
	if s != nil {
		byNode, byAddress = x.node.In(s), x.address.In(s)
	}
	for _, node := range nodes[1:] {
		checkLookUps(t, m.where(onNode(node)), byNode, node)
	}
	for _, address := range addresses {
		checkLookUps(t, m.where(withAddress(address)), byAddress, address)
	}
	join := func(terms ...index.Term[*pod]) []*pod {
		if s != nil {
			return slices.Collect(s.Intersect(terms...))
		}
		return slices.Collect(index.Intersect(terms...))
	}
	want := m.where(func(p *pod) bool { return onNode("n1")(p) && (withAddress("a1")(p) || withAddress("a2")(p)) })
	require.Equal(t, sorted(want), sorted(join(x.node.Is("n1"), x.address.Is("a1", "a2"))))
	require.Equal(t, sorted(m.where(func(p *pod) bool { return withAddress("a3")(p) && p.labels["app"] == "db" })),
		sorted(join(x.address.Is("a3"), x.label.Is(index.Label{Key: "app", Value: "db"}))))

	checkParts(t, m, x.part, s)
	var wantKeys []string
	for _, address := range addresses {
		if len(m.where(withAddress(address))) > 0 {
			wantKeys = append(wantKeys, address)
		}
	}
	require.ElementsMatch(t, wantKeys, slices.Collect(byAddress.Keys()))
}

// frozen is a snapshot with its expected contents.
type frozen struct {
	snapshot *index.Snapshot[*pod]
	model    model
}

// TestModel makes random writes to an Indexer and to a map, and compares all reads after each,
// including those of the latest snapshot, and in the end those of every snapshot.
func TestModel(t *testing.T) { rapid.Check(t, checkModel) }

func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkModel)) }

func checkModel(t *rapid.T) {
	x := &indexes{byNode(), byAddress(), index.Labels[*pod]("app"), byPart()}
	var opts []index.Option[*pod]
	if rapid.Bool().Draw(t, "key strings") {
		opts = append(opts, index.WithKeyStrings[*pod]())
	}
	store := index.NewIndexer(opts...)
	require.NoError(t, store.AddIndexes(x.node, x.label, x.part))
	m, version, late := model{}, 0, false
	var snapshots []frozen

	apply := func(p *pod, gone, unseen bool) (index.Change[*pod], index.Event[*pod], bool) {
		key := index.KeyOf(p)
		old, found := m[key]
		change := index.Change[*pod]{Delete: gone, Object: p, Reason: index.Watched}
		event := index.Event[*pod]{Type: index.Updated, Reason: index.Watched, Old: old, New: p}
		if gone && unseen {
			change.Object, change.Key, event.New = nil, &key, old
		}
		switch {
		case gone && !found:
			return change, event, false
		case gone:
			event.Type = index.Deleted
			delete(m, key)
		case !found:
			event.Type = index.Added
			m[key] = p
		default:
			m[key] = p
		}
		return change, event, true
	}
	t.Repeat(map[string]func(*rapid.T){
		"apply": func(t *rapid.T) {
			var changes []index.Change[*pod]
			var want []index.Event[*pod]
			for range rapid.IntRange(1, 20).Draw(t, "changes") {
				version++
				change, event, effect := apply(drawPod(t, version), rapid.IntRange(0, 2).Draw(t, "op") == 0, rapid.Bool().Draw(t, "unseen"))
				changes = append(changes, change)
				if effect {
					want = append(want, event)
				}
			}
			require.Equal(t, want, store.Apply(nil, changes, fmt.Sprint(version)))
			require.Equal(t, fmt.Sprint(version), store.ResourceVersion())
		},
		"replace": func(t *rapid.T) {
			var list []*pod
			for range rapid.IntRange(0, 60).Draw(t, "size") {
				version++
				list = append(list, drawPod(t, version))
			}
			everything := func(*pod) bool { return true }
			checkReplaced(t, m, everything, list, apply, func() []index.Event[*pod] {
				return store.Replace(nil, list, fmt.Sprint(version), index.Relisted)
			})
			require.Equal(t, fmt.Sprint(version), store.ResourceVersion())
		},
		"replace namespace": func(t *rapid.T) {
			namespace := rapid.SampledFrom(namespaces).Draw(t, "of namespace")
			var list []*pod
			for range rapid.IntRange(0, 20).Draw(t, "size") {
				version++
				p := drawPod(t, version)
				p.namespace = namespace
				list = append(list, p)
			}
			before, at := store.ResourceVersion(), rapid.SampledFrom([]string{"", fmt.Sprint(version)}).Draw(t, "version")
			inside := func(p *pod) bool { return p.namespace == namespace }
			checkReplaced(t, m, inside, list, apply, func() []index.Event[*pod] {
				return store.ReplaceNamespace(nil, namespace, list, at, index.Relisted)
			})
			if at == "" {
				at = before
			}
			require.Equal(t, at, store.ResourceVersion())
		},
		"apply many": func(t *rapid.T) { // more than are made in place, in a fork
			var changes []index.Change[*pod]
			var want []index.Event[*pod]
			for range 600 {
				version++
				name := fmt.Sprint("many", version*7919%900)
				p := &pod{namespace: namespaces[version%3], name: name, version: version, addresses: addresses[:version%4]}
				change, event, effect := apply(p, version%5 == 0, false)
				changes = append(changes, change)
				if effect {
					want = append(want, event)
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "away") > 0 { // they slow all checks down
				for _, p := range m.where(func(p *pod) bool { return strings.HasPrefix(p.name, "many") }) {
					change, event, _ := apply(p, true, false)
					changes, want = append(changes, change), append(want, event)
				}
			}
			require.Equal(t, want, store.Apply(nil, changes, fmt.Sprint(version)))
		},
		"snapshot": func(t *rapid.T) {
			if late {
				snapshots = append(snapshots, frozen{store.Snapshot(), maps.Clone(m)})
			}
		},
		"add index": func(t *rapid.T) {
			if !late {
				require.NoError(t, store.AddIndexes(x.address))
				late = true
			}
		},
		"": func(t *rapid.T) {
			check(t, m, store)
			checkKeyStrings(t, m, store, x.node)
			if late {
				checkIndexes(t, m, x, nil)
			}
			if last := len(snapshots) - 1; last >= 0 {
				checkFrozen(t, x, snapshots[last])
			}
		},
	})
	for _, f := range snapshots {
		checkFrozen(t, x, f)
	}
}

// checkReplaced replaces the objects that are inside of something by those of a
// list, in the model as well, and compares the events.
func checkReplaced(
	t *rapid.T, m model, inside func(*pod) bool, list []*pod,
	apply func(p *pod, gone, unseen bool) (index.Change[*pod], index.Event[*pod], bool), replace func() []index.Event[*pod],
) {
	var want []index.Event[*pod]
	before, listed := m.where(inside), model{}
	for _, p := range list {
		_, event, _ := apply(p, false, false)
		event.Reason = index.Relisted
		want = append(want, event)
		listed[index.KeyOf(p)] = p
	}
	var gone []string
	for _, p := range before {
		if listed[index.KeyOf(p)] == nil {
			gone = append(gone, p.String())
			delete(m, index.KeyOf(p))
		}
	}
	slices.Sort(gone)
	events := replace()
	require.GreaterOrEqual(t, len(events), len(gone))
	var deleted []string
	for _, e := range events[:len(gone)] {
		require.Equal(t, index.Deleted, e.Type)
		require.Same(t, e.Old, e.New)
		deleted = append(deleted, e.Old.String())
	}
	slices.Sort(deleted)
	require.Equal(t, gone, deleted)
	require.Equal(t, strings.Join(describe(want), "\n"), strings.Join(describe(events[len(gone):]), "\n"))
}

func checkFrozen(t require.TestingT, x *indexes, f frozen) {
	check(t, f.model, f.snapshot)
	checkIndexes(t, f.model, x, f.snapshot)
}

func describe(events []index.Event[*pod]) []string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = fmt.Sprint(e.Type, e.Reason, e.Old, e.New)
	}
	return lines
}
