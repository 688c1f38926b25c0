package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

func TestTransformsFollowOneAnother(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		mark := func(node string) typed.Option {
			return typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
				switch {
				case o.Name == "nil" && node == "-1":
					return nil, nil
				case o.Name == "bad" && node == "-1":
					return nil, assert.AnError
				case o.Name == "bad" || o.Name == "nil":
					t.Error("called after an error")
				}
				return rig.On(o.Node+node, o), nil
			})
		}
		r := rig.New(t, mark("-1"), mark("-2"), mark("-3"))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("n", rig.At("a", 1)), rig.At("bad", 2), rig.At("nil", 3)}, "3")
		synctest.Wait()
		assert.Equal(t, "n-1-2-3", mustGet(t, r, "a").Node)
		assert.Equal(t, 1, r.Len())
		assert.Equal(t, 2, r.Status().Rejected)
	})
}

// named is an interface that things implement.
type named interface {
	GetNamespace() string
	GetName() string
}

func TestTransformOfAnInterface(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithTransform(func(o named) (named, error) {
			switch o.GetName() {
			case "other":
				return rig.Placement{Namespace: "ns", Name: "other", Node: ""}, nil
			case "nil":
				return nil, nil
			case "bad":
				return nil, assert.AnError
			}
			return rig.On("seen", o.(*rig.Thing)), nil
		}))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("other", 2)}, "2")
		synctest.Wait()
		assert.Equal(t, "seen", mustGet(t, r, "a").Node)
		assert.ErrorContains(t, r.Status().LastRejected, "the transform function has made a rig.Placement of it")
		sinktest.Put(r.Sink, rig.At("nil", 3), "3")
		assert.ErrorContains(t, r.Status().LastRejected, "object is nil")
		sinktest.Put(r.Sink, rig.At("bad", 4), "4")
		assert.ErrorIs(t, r.Status().LastRejected, assert.AnError)
		synctest.Wait()
		assert.Equal(t, 1, r.Len())
	})
}
