package typed_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/typed"
)

// onlyX keeps what is on the node x, without its UID.
func onlyX(o *thing) (*thing, bool) {
	projected := *o
	projected.uid = ""
	return &projected, onX(o)
}

// newProjectedRig returns a rig whose informer keeps a projection of what is
// reported to the sink.
func newProjectedRig(t *testing.T, project func(*thing) (*thing, bool)) *rig {
	s := newScript()
	return &rig{t: t, Informer: typed.NewInformer(typed.FilterMap(s, project)), script: s, ended: make(chan error, 1)}
}

func TestFilterMap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newProjectedRig(t, onlyX)
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{on("x", at("a", 1)), on("y", at("b", 2)), on("x", at("c", 3))}, "3")
		assert.Equal(t, []string{"initial a@1", "initial c@3"}, rec.next())
		r.sink.Update(on("x", at("b", 4)), "4")
		r.sink.Update(on("y", at("a", 5)), "5")
		r.sink.Update(on("y", at("a", 6)), "6")
		r.sink.Add(on("y", at("d", 7)), "7")
		assert.Equal(t, []string{"add b@4", "delete a@1 ScopeRemoved"}, rec.next())
		assert.Equal(t, "7", r.ResourceVersion(), "also when nothing has changed")
		r.sink.Delete(on("y", at("a", 8)), "8")
		r.sink.Delete(on("y", at("b", 9)), "9")
		r.sink.Delete(on("x", at("c", 10)), "10")
		assert.Equal(t, []string{"delete b@4 ScopeRemoved", "delete c@10 Watched"}, rec.next())
		r.sink.Replace([]*thing{on("x", at("a", 11))}, "11")
		r.sink.Replace([]*thing{on("y", at("a", 12))}, "12")
		assert.Equal(t, []string{"add a@11", "delete a@11 Relisted"}, rec.next())
		assert.Zero(t, r.Status().Rejected)
	})
}

// TestFilterMapModel makes random reports, and compares the calls of a handler
// with those that a plain map leads to.
func TestFilterMapModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 999), 1, 40).Draw(rt, "steps")
		var found complaints
		synctest.Test(t, func(t *testing.T) {
			r := newProjectedRig(t, onlyX)
			rec := r.handle()
			r.run()
			r.sink.Replace(nil, "1")
			rec.next()
			m := filtered{}
			for i, step := range steps {
				version := i + 2
				want := m.step(r.sink, step, version)
				assert.Equal(&found, want, sortDeletions(rec.next()), "step %d: %d", i, step)
				assert.Equal(&found, fmt.Sprint(version), r.ResourceVersion())
				assert.Equal(&found, len(m), r.Len())
			}
		})
		require.Empty(rt, found.list)
	})
}

// filtered is what is on the node x, by namespace and name.
type filtered map[string]*thing

// step makes one report, and returns the calls that it leads to.
func (m filtered) step(sink typed.Sink[*thing], step, version int) []string {
	random := func() *thing {
		step = step*31 + 7
		o := on([]string{"x", "y"}[step%2], at(string(rune('a'+step/2%4)), version))
		o.namespace = []string{"ns", "other"}[step/8%2]
		return o
	}
	list := []*thing{random(), random(), random()}
	switch kind := step % 10; kind {
	case 0, 1:
		sink.Replace(slices.Clone(list), fmt.Sprint(version))
		return m.replace(func(*thing) bool { return true }, list)
	case 2, 3:
		for _, o := range list {
			o.namespace = "ns"
		}
		sink.ReplaceNamespace("ns", slices.Clone(list), fmt.Sprint(version))
		return m.replace(func(o *thing) bool { return o.namespace == "ns" }, list)
	case 4, 5:
		sink.Delete(list[0], fmt.Sprint(version))
		return m.change(list[0], true)
	default:
		sink.Update(list[0], fmt.Sprint(version))
		return m.change(list[0], false)
	}
}

func (m filtered) change(o *thing, gone bool) []string {
	at := o.namespace + "/" + o.name
	old := m[at]
	switch {
	case onX(o) && !gone:
		m[at] = o
		if old == nil {
			return []string{fmt.Sprint("add ", o)}
		}
		return []string{fmt.Sprint("update ", old, " ", o)}
	case old == nil:
		return nil
	default:
		delete(m, at)
		if onX(o) {
			return []string{fmt.Sprint("delete ", o, " Watched")}
		}
		return []string{fmt.Sprint("delete ", old, " ScopeRemoved")}
	}
}

func (m filtered) replace(inside func(*thing) bool, list []*thing) []string {
	listed := map[string]bool{}
	for _, o := range list {
		listed[o.namespace+"/"+o.name] = listed[o.namespace+"/"+o.name] || onX(o)
	}
	var calls []string
	for at, o := range m {
		if inside(o) && !listed[at] {
			calls = append(calls, fmt.Sprint("delete ", o, " Relisted"))
			delete(m, at)
		}
	}
	slices.Sort(calls)
	for _, o := range list {
		if onX(o) {
			calls = append(calls, m.change(o, false)...)
		}
	}
	return calls
}

// sortDeletions sorts the deletions that come first.
func sortDeletions(calls []string) []string {
	n := slices.IndexFunc(calls, func(c string) bool { return c[0] != 'd' })
	if n < 0 {
		n = len(calls)
	}
	slices.Sort(calls[:n])
	return calls
}
