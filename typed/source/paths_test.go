package source_test

import (
	"testing"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// mapped is a projection, of another type.
type mapped struct{ of *rig.Thing }

func (m mapped) GetName() string      { return m.of.Name }
func (m mapped) GetNamespace() string { return m.of.Namespace }

// TestPaths: all reports reach the informer.
func TestPaths(t *testing.T) {
	obj := rig.At("a", 1)
	same := func(obj *rig.Thing) *rig.Thing { return obj }
	t.Run("Forwarder", func(t *testing.T) {
		sinktest.Path[*rig.Thing, *rig.Thing]{
			Begin: func(_ *testing.T, to source.Sink[*rig.Thing]) source.Sink[*rig.Thing] {
				return &source.Forwarder[*rig.Thing]{To: to}
			},
			Object: obj, Back: same, Held: true,
		}.Test(t)
	})
	t.Run("Map", func(t *testing.T) {
		sinktest.Path[*rig.Thing, mapped]{
			Begin: sinktest.Over(func(src source.Source[*rig.Thing]) source.Source[mapped] {
				return source.Map(src, func(obj *rig.Thing) mapped { return mapped{obj} })
			}),
			Object: obj, Back: func(m mapped) *rig.Thing { return m.of }, OtherFields: true,
		}.Test(t)
	})
	t.Run("FilterMap", func(t *testing.T) {
		sinktest.Path[*rig.Thing, *rig.Thing]{
			Begin: sinktest.Over(func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
				return source.FilterMap(src, func(obj *rig.Thing) (*rig.Thing, bool) { return obj, true })
			}),
			Object: obj, Back: same,
		}.Test(t)
	})
	t.Run("FromNamespaces", func(t *testing.T) {
		sinktest.Path[*rig.Thing, *rig.Thing]{
			Begin: sinktest.Over(func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
				return source.FromNamespaces(source.NewNamespaces(obj.Namespace), func(string) source.Source[*rig.Thing] { return src })
			}),
			Object: obj, Back: same, Held: true,
		}.Test(t)
	})
}

// TestOmits: sources that wrap one that leaves a field out report it.
func TestOmits(t *testing.T) {
	t.Run("FilterMap", func(t *testing.T) {
		sinktest.Omits(t, false, func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
			return source.FilterMap(src, func(obj *rig.Thing) (*rig.Thing, bool) { return obj, true })
		})
	})
	t.Run("FromNamespaces", func(t *testing.T) {
		sinktest.Omits(t, true, func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
			return source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] { return src })
		})
	})
	t.Run("FilterMap of FromNamespaces", func(t *testing.T) {
		sinktest.Omits(t, true, func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
			return source.FilterMap(source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] { return src }),
				func(obj *rig.Thing) (*rig.Thing, bool) { return obj, true })
		})
	})
}

// TestDerives: what is made of a source leads to it.
func TestDerives(t *testing.T) {
	t.Run("Map", func(t *testing.T) {
		sinktest.Derives(t, false, func(src source.Source[*rig.Thing]) source.Source[mapped] {
			return source.Map(src, func(obj *rig.Thing) mapped { return mapped{obj} })
		})
	})
	t.Run("FromNamespaces", func(t *testing.T) {
		sinktest.Derives(t, true, func(src source.Source[*rig.Thing]) source.Source[*rig.Thing] {
			return source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] { return src })
		})
	})
}
