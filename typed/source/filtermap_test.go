package source_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// onlyX keeps what is on the node x, without its UID.
func onlyX(o *rig.Thing) (*rig.Thing, bool) {
	projected := *o
	projected.UID = ""
	return &projected, rig.OnX(o)
}

// newProjectedRig returns a rig whose informer stores a projection of the objects reported to the
// sink.
func newProjectedRig(t *testing.T, project func(*rig.Thing) (*rig.Thing, bool)) *rig.Rig {
	s := rig.NewScript()
	return rig.Over(t, s, source.FilterMap(s, project))
}

func TestFilterMap(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newProjectedRig(t, onlyX)
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("x", rig.At("a", 1)), rig.On("y", rig.At("b", 2)), rig.On("x", rig.At("c", 3))}, "3")
		assert.Equal(t, []string{"initial a@1", "initial c@3"}, rec.Next())
		sinktest.Put(r.Sink, rig.On("x", rig.At("b", 4)), "4")
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 5)), "5")
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 6)), "6")
		sinktest.Put(r.Sink, rig.On("y", rig.At("d", 7)), "7")
		assert.Equal(t, []string{"add b@4", "delete a@1 OutOfScope"}, rec.Next())
		assert.Equal(t, "7", r.ResourceVersion(), "also when nothing has changed")
		sinktest.Delete(r.Sink, rig.On("y", rig.At("a", 8)), "8")
		sinktest.Delete(r.Sink, rig.On("y", rig.At("b", 9)), "9")
		sinktest.Delete(r.Sink, rig.On("x", rig.At("c", 10)), "10")
		assert.Equal(t, []string{"delete b@4 OutOfScope", "delete c@10 Watched"}, rec.Next())
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("x", rig.At("a", 11))}, "11")
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("y", rig.At("a", 12))}, "12")
		assert.Equal(t, []string{"add a@11", "delete a@11 Relisted"}, rec.Next())
		assert.Zero(t, r.Status().Rejected)
	})
}

// TestFilterMapModel makes random reports, and compares the calls of a handler
// with those that a plain map leads to.
func TestFilterMapModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 999), 1, 40).Draw(rt, "steps")
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) {
			r := newProjectedRig(t, onlyX)
			rec := r.Record()
			r.Start()
			sinktest.Replace(r.Sink, "", nil, "1")
			rec.Next()
			m := filtered{}
			for i, step := range steps {
				version := i + 2
				want := m.step(r.Sink, step, version)
				assert.Equal(&found, want, sortDeletions(rec.Next()), "step %d: %d", i, step)
				assert.Equal(&found, fmt.Sprint(version), r.ResourceVersion())
				assert.Equal(&found, len(m), r.Len())
			}
		})
		require.Empty(rt, found.List)
	})
}

// filtered is what is on the node x, by namespace and name.
type filtered map[string]*rig.Thing

// step makes one report, and returns the calls that it leads to.
func (m filtered) step(sink source.Sink[*rig.Thing], step, version int) []string {
	random := func() *rig.Thing {
		step = step*31 + 7
		o := rig.On([]string{"x", "y"}[step%2], rig.At(string(rune('a'+step/2%4)), version))
		o.Namespace = []string{"ns", "other"}[step/8%2]
		return o
	}
	list := []*rig.Thing{random(), random(), random()}
	switch kind := step % 10; kind {
	case 0, 1:
		sinktest.Replace(sink, "", slices.Clone(list), fmt.Sprint(version))
		return m.replace(func(*rig.Thing) bool { return true }, list)
	case 2, 3:
		for _, o := range list {
			o.Namespace = "ns"
		}
		sinktest.Replace(sink, "ns", slices.Clone(list), fmt.Sprint(version))
		return m.replace(func(o *rig.Thing) bool { return o.Namespace == "ns" }, list)
	case 4, 5:
		sinktest.Delete(sink, list[0], fmt.Sprint(version))
		return m.change(list[0], true)
	default:
		sinktest.Put(sink, list[0], fmt.Sprint(version))
		return m.change(list[0], false)
	}
}

func (m filtered) change(o *rig.Thing, gone bool) []string {
	at := o.Namespace + "/" + o.Name
	old := m[at]
	switch {
	case rig.OnX(o) && !gone:
		m[at] = o
		if old == nil {
			return []string{fmt.Sprint("add ", o)}
		}
		return []string{fmt.Sprint("update ", old, " ", o)}
	case old == nil:
		return nil
	default:
		delete(m, at)
		if rig.OnX(o) {
			return []string{fmt.Sprint("delete ", o, " Watched")}
		}
		return []string{fmt.Sprint("delete ", old, " OutOfScope")}
	}
}

func (m filtered) replace(inside func(*rig.Thing) bool, list []*rig.Thing) []string {
	listed := map[string]bool{}
	for _, o := range list {
		listed[o.Namespace+"/"+o.Name] = listed[o.Namespace+"/"+o.Name] || rig.OnX(o)
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
		if rig.OnX(o) {
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
