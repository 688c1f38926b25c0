package index_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestOrderedBesideWrites ranges over an ordered index while objects are written: every
// range has one state, in which each object is there once, in order, and its body may
// write.
func TestOrderedBesideWrites(t *testing.T) {
	version := byVersion()
	pods := make([]*pod, 300)
	for i := range pods {
		pods[i] = &pod{name: string(rune('a' + i)), version: i}
	}
	store := newStore(t, []handle{version}, pods...)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				last, names := -1, map[string]bool{}
				for v, p := range version.All() {
					assert.GreaterOrEqual(t, v, last)
					assert.Equal(t, v, p.version)
					assert.False(t, names[p.name])
					last, names[p.name] = v, true
				}
				assert.Len(t, names, len(pods))
				last = math.MaxInt // it is another state
				for v := range version.Backward(index.Range[int]{}) {
					assert.LessOrEqual(t, v, last)
					last = v
				}
			}
		})
	}
	for round := range 300 {
		changed := make([]*pod, 0, 20)
		for i := range 20 {
			old := pods[(round*7+i*13)%len(pods)]
			changed = append(changed, &pod{name: old.name, version: round*3 + i})
		}
		if round%50 == 0 { // a list, which is stored in a fork
			store.Replace(nil, pods, "1", index.Relisted)
		}
		store.Apply(nil, put(changed...), "1")
	}
	close(done)
	readers.Wait()
	for v, p := range version.Range(index.From(0)) {
		if v > 5 {
			break
		}
		store.Apply(nil, put(&pod{name: p.name, version: 1000 + v}), "1") // no lock is held
	}
	require.Equal(t, len(pods), version.Len())
}

// TestPrefix ranges over the keys that begin with a prefix, and no others.
func TestPrefix(t *testing.T) {
	byName := index.NewOrdered("name", func(p *pod) (string, bool) { return p.name, true })
	names := []string{"a", "b", "b-0", "b-\xff", "bb", "c", "\xff", "\xff\xff", "\xffa"}
	pods := make([]*pod, len(names))
	for i, name := range names {
		pods[i] = &pod{name: name}
	}
	newStore(t, []handle{byName}, pods...)
	for prefix, want := range map[string][]string{
		"":     {"a", "b", "b-0", "b-\xff", "bb", "c", "\xff", "\xffa", "\xff\xff"},
		"b":    {"b", "b-0", "b-\xff", "bb"},
		"b-":   {"b-0", "b-\xff"},
		"bc":   nil,
		"\xff": {"\xff", "\xffa", "\xff\xff"},
	} {
		var got []string
		for name := range byName.Range(index.Prefix(prefix)) {
			got = append(got, name)
		}
		assert.Equal(t, want, got, "%q", prefix)
	}
}

// TestOrderedLetsGo: an index is empty without the objects that had its keys.
func TestOrderedLetsGo(t *testing.T) {
	version := byVersion()
	store := newStore(t, []handle{version}, &pod{name: "a", version: 1}, &pod{name: "b", version: 2})
	store.Apply(nil, put(&pod{name: "a", version: -1}), "2")
	require.Equal(t, 1, version.Len(), "it has no key any more")
	store.Apply(nil, remove(&pod{name: "b"}), "3")
	require.Zero(t, version.Len())
	store.Apply(nil, put(&pod{name: "a", version: 3}), "4")
	store.Replace(nil, nil, "5", index.Relisted)
	require.Zero(t, version.Len())
	assert.Zero(t, version.In(store.Snapshot()).Len())
	assert.Zero(t, index.OrderedView[int, *pod]{}.Len())
	for range (index.OrderedView[int, *pod]{}).All() {
		assert.Fail(t, "the zero view is empty")
	}
}

func TestNewOrderedRefuses(t *testing.T) {
	store := newStore(t, nil)
	assert.ErrorContains(t, store.AddIndexes(index.NewOrdered[int, *pod]("x", nil)), `"x" has no function`)
	assert.ErrorContains(t, store.AddIndexes(index.NewOrdered("", func(*pod) (int, bool) { return 0, true })), "no name")
	assert.ErrorContains(t, store.AddIndexes((*index.Ordered[int, *pod])(nil)), "nil index")
	x := byVersion()
	require.NoError(t, store.AddIndexes(x))
	assert.ErrorIs(t, newStore(t, nil).AddIndexes(x), index.ErrIndexInUse)
	assert.ErrorIs(t, store.AddIndexes(byVersion()), index.ErrNameTaken)
}
