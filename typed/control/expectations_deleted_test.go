package control_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

func TestExpectDeleted(t *testing.T) {
	marked := func(o *rig.Thing) *rig.Thing {
		o.Deleted = &metav1.Time{}
		return o
	}
	another := func(o *rig.Thing) *rig.Thing {
		o.UID = "another"
		return o
	}
	for name, test := range map[string]struct {
		before  []*rig.Thing // what the informer has, at version 5
		deleted *rig.Thing
		first   func(source.Sink[*rig.Thing]) // does not meet it
		then    func(source.Sink[*rig.Thing]) // meets it; nil: it is met at once
	}{
		"gone": {
			before: []*rig.Thing{rig.At("a", 3)}, deleted: rig.At("a", 3),
			first: func(s source.Sink[*rig.Thing]) {
				sinktest.Put(s, rig.At("a", 6), "6")
				sinktest.Delete(s, rig.At("b", 7), "7")
				sinktest.Bookmark(s, "8")
			},
			then: func(s source.Sink[*rig.Thing]) { sinktest.Delete(s, rig.At("a", 9), "9") },
		},
		"gone, without a version": {
			before: []*rig.Thing{rig.At("a", 3)}, deleted: rig.At("a", 3),
			first: func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("a", 6), "") },
			then:  func(s source.Sink[*rig.Thing]) { sinktest.Delete(s, rig.At("a", 9), "") },
		},
		"missed": {
			before: []*rig.Thing{rig.At("a", 3), rig.At("b", 3)}, deleted: rig.At("a", 3),
			first: func(s source.Sink[*rig.Thing]) { sinktest.Replace(s, "", []*rig.Thing{rig.At("a", 3)}, "8") },
			then:  func(s source.Sink[*rig.Thing]) { sinktest.Replace(s, "", []*rig.Thing{rig.At("b", 9)}, "9") },
		},
		"another": {
			before: []*rig.Thing{rig.At("a", 3)}, deleted: rig.At("a", 3),
			then: func(s source.Sink[*rig.Thing]) { sinktest.Put(s, another(rig.At("a", 9)), "9") },
		},
		"deleted and created": {
			before: []*rig.Thing{rig.At("a", 3)}, deleted: rig.At("a", 3),
			then: func(s source.Sink[*rig.Thing]) {
				sinktest.Delete(s, rig.At("a", 8), "8")
				sinktest.Put(s, another(rig.At("a", 9)), "9")
			},
		},
		"another before":    {before: []*rig.Thing{another(rig.At("a", 4))}, deleted: rig.At("a", 3)},
		"gone before":       {deleted: rig.At("a", 3)},
		"gone at that time": {deleted: rig.At("a", 5)},
		"marked": {
			before: []*rig.Thing{rig.At("a", 3)}, deleted: rig.At("a", 3),
			first: func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("a", 8), "8") },
			then:  func(s source.Sink[*rig.Thing]) { sinktest.Put(s, marked(rig.At("a", 9)), "9") },
		},
		"marked before": {before: []*rig.Thing{marked(rig.At("a", 3))}, deleted: rig.At("a", 3)},
		"not seen yet": {
			deleted: rig.At("a", 6),
			first:   func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("a", 6), "6") },
			then:    func(s source.Sink[*rig.Thing]) { sinktest.Delete(s, rig.At("a", 7), "7") },
		},
		"not seen yet, and never": {
			deleted: rig.At("a", 6),
			first:   func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("b", 4), "5") },
			then:    func(s source.Sink[*rig.Thing]) { sinktest.Bookmark(s, "7") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				d, r := newDesk(t), rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", test.before, "5")
				synctest.Wait()
				require.NoError(t, d.ExpectDeleted("k", r, test.deleted))
				if test.then == nil {
					assert.Zero(t, d.Stats())
					return
				}
				require.NoError(t, d.ExpectDeleted("k", r, test.deleted), "again")
				assert.False(t, d.handOut("k"))
				if test.first != nil {
					test.first(r.Sink)
					assert.Empty(t, d.added())
					assert.False(t, d.handOut("k"))
				}
				test.then(r.Sink)
				assert.Equal(t, []string{"k"}, d.added())
				assert.Zero(t, d.Stats().Keys)
				assert.True(t, d.handOut("k"))
			})
		})
	}
}

func TestExpectDeletedOfOneNameTwice(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		second := rig.At("a", 3)
		second.UID = "second"
		synctest.Wait()
		require.NoError(t, d.ExpectDeleted("k", r, rig.At("a", 1)))
		require.NoError(t, d.ExpectDeleted("k", r, second))
		require.NoError(t, d.ExpectDeleted("l", r, second))
		assert.False(t, d.handOut("k"))
		assert.False(t, d.handOut("l"))
		sinktest.Delete(r.Sink, rig.At("a", 2), "2")
		assert.Empty(t, d.added())
		sinktest.Put(r.Sink, second, "3")
		assert.Empty(t, d.added())
		sinktest.Delete(r.Sink, second, "4")
		assert.ElementsMatch(t, []string{"k", "l"}, d.added())
		assert.Zero(t, d.Stats().Keys)
	})
}
