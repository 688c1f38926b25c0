package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/typed"
)

func TestExpectDeleted(t *testing.T) {
	marked := func(o *thing) *thing {
		o.deleted = &metav1.Time{}
		return o
	}
	another := func(o *thing) *thing {
		o.uid = "another"
		return o
	}
	for name, test := range map[string]struct {
		before  []*thing // what the informer has, at version 5
		deleted *thing
		first   func(typed.Sink[*thing]) // does not meet it
		then    func(typed.Sink[*thing]) // meets it; nil: it is met at once
	}{
		"gone": {
			before: []*thing{at("a", 3)}, deleted: at("a", 3),
			first: func(s typed.Sink[*thing]) { s.Update(at("a", 6), "6"); s.Delete(at("b", 7), "7"); s.Bookmark("8") },
			then:  func(s typed.Sink[*thing]) { s.Delete(at("a", 9), "9") },
		},
		"gone, without a version": {
			before: []*thing{at("a", 3)}, deleted: at("a", 3),
			first: func(s typed.Sink[*thing]) { s.Update(at("a", 6), "") },
			then:  func(s typed.Sink[*thing]) { s.Delete(at("a", 9), "") },
		},
		"missed": {
			before: []*thing{at("a", 3), at("b", 3)}, deleted: at("a", 3),
			first: func(s typed.Sink[*thing]) { s.Replace([]*thing{at("a", 3)}, "8") },
			then:  func(s typed.Sink[*thing]) { s.Replace([]*thing{at("b", 9)}, "9") },
		},
		"another": {
			before: []*thing{at("a", 3)}, deleted: at("a", 3),
			then: func(s typed.Sink[*thing]) { s.Update(another(at("a", 9)), "9") },
		},
		"deleted and created": {
			before: []*thing{at("a", 3)}, deleted: at("a", 3),
			then: func(s typed.Sink[*thing]) { s.Delete(at("a", 8), "8"); s.Add(another(at("a", 9)), "9") },
		},
		"another before":    {before: []*thing{another(at("a", 4))}, deleted: at("a", 3)},
		"gone before":       {deleted: at("a", 3)},
		"gone at that time": {deleted: at("a", 5)},
		"marked": {
			before: []*thing{at("a", 3)}, deleted: at("a", 3),
			first: func(s typed.Sink[*thing]) { s.Update(at("a", 8), "8") },
			then:  func(s typed.Sink[*thing]) { s.Update(marked(at("a", 9)), "9") },
		},
		"marked before": {before: []*thing{marked(at("a", 3))}, deleted: at("a", 3)},
		"not seen yet": {
			deleted: at("a", 6),
			first:   func(s typed.Sink[*thing]) { s.Add(at("a", 6), "6") },
			then:    func(s typed.Sink[*thing]) { s.Delete(at("a", 7), "7") },
		},
		"not seen yet, and never": {
			deleted: at("a", 6),
			first:   func(s typed.Sink[*thing]) { s.Add(at("b", 4), "5") },
			then:    func(s typed.Sink[*thing]) { s.Bookmark("7") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d, r := newDesk(t), newRig(t)
				r.run()
				r.sink.Replace(test.before, "5")
				synctest.Wait()
				require.NoError(t, d.ExpectDeleted("k", r, test.deleted))
				if test.then == nil {
					assert.Zero(t, d.Stats())
					return
				}
				require.NoError(t, d.ExpectDeleted("k", r, test.deleted), "again")
				assert.False(t, d.handOut("k"))
				if test.first != nil {
					test.first(r.sink)
					assert.Empty(t, d.added())
					assert.False(t, d.handOut("k"))
				}
				test.then(r.sink)
				assert.Equal(t, []string{"k"}, d.added())
				assert.Zero(t, d.Stats().Keys)
				assert.True(t, d.handOut("k"))
			})
		})
	}
}

func TestExpectDeletedOfOneNameTwice(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d, r := newDesk(t), newRig(t)
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		second := at("a", 3)
		second.uid = "second"
		synctest.Wait()
		require.NoError(t, d.ExpectDeleted("k", r, at("a", 1)))
		require.NoError(t, d.ExpectDeleted("k", r, second))
		require.NoError(t, d.ExpectDeleted("l", r, second))
		assert.False(t, d.handOut("k"))
		assert.False(t, d.handOut("l"))
		r.sink.Delete(at("a", 2), "2")
		assert.Empty(t, d.added())
		r.sink.Add(second, "3")
		assert.Empty(t, d.added())
		r.sink.Delete(second, "4")
		assert.ElementsMatch(t, []string{"k", "l"}, d.added())
		assert.Zero(t, d.Stats().Keys)
	})
}
