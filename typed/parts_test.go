package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// reasoned is a follower that writes down reasons as well.
type reasoned struct{ followed }

func (f *reasoned) Step(events []typed.Event[*rig.Thing], resourceVersion string) {
	words := ""
	for _, e := range events {
		words += fmt.Sprintf("%v %v %v, ", e.Reason, e.Type, e.New)
	}
	f.note("%sat %q", words, resourceVersion)
}

// TestReplacePart: a list of a part changes only that part, in one step, and its additions and
// deletions have the given reason, even behind a projection and one namespace of several.
func TestReplacePart(t *testing.T) {
	keep := func(obj *rig.Thing) (*rig.Thing, bool) { return obj, obj.Name != "left-out" }
	for name, wrap := range map[string]func(*rig.Script) source.Source[*rig.Thing]{
		"alone": func(s *rig.Script) source.Source[*rig.Thing] { return source.FilterMap(s, keep) },
		"in namespaces": func(s *rig.Script) source.Source[*rig.Thing] {
			return source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] { return source.FilterMap(s, keep) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) { testReplacePart(t, wrap) })
		})
	}
}

func testReplacePart(t *testing.T, wrap func(*rig.Script) source.Source[*rig.Thing]) {
	script := rig.NewScript()
	r := rig.Over(t, script, wrap(script))
	f := &reasoned{}
	_, err := r.Follow(f)
	require.NoError(t, err)
	r.Start()
	sinktest.Replace(r.Sink, "", things("a", "b"), "2")
	f.next()
	part := func(objs ...*rig.Thing) (list []source.Staged) {
		for _, obj := range objs {
			list = append(list, r.Sink.Stage(obj, ""))
		}
		return list
	}

	sinktest.ReplacePart(r.Sink, part(rig.At("c", 3), rig.At("left-out", 3), rig.At("d", 4)), nil, index.Acquired, "4")
	assert.Equal(t, []string{`Acquired Added c@3, Acquired Added d@4, at "4"`}, f.next())
	before := r.Snapshot()
	gone := []index.Key{{Namespace: "ns", Name: "c"}, {Namespace: "ns", Name: "was never there"}}
	sinktest.ReplacePart(r.Sink, part(rig.At("d", 5), rig.At("e", 6)), gone, index.Relisted, "6")
	assert.Equal(t, []string{`Relisted Deleted c@3, Relisted Updated d@5, Relisted Added e@6, at "6"`}, f.next())
	sinktest.ReplacePart(r.Sink, nil, []index.Key{{Namespace: "ns", Name: "d"}}, index.Released, "7")
	assert.Equal(t, []string{`Released Deleted d@5, at "7"`}, f.next())
	sinktest.Remove(r.Sink, index.Key{Namespace: "ns", Name: "e"}, index.Released, "8")
	assert.Equal(t, []string{`Released Deleted e@6, at "8"`}, f.next())
	sinktest.ReplacePart(r.Sink, nil, nil, index.Relisted, "9")
	assert.Equal(t, []string{`at "9"`}, f.next())

	assert.Equal(t, "9", r.ResourceVersion())
	assert.Len(t, before.List(), 4)
	assert.ElementsMatch(t, things("a", "b"), r.List())
}

// TestReplacePartWithChangedOnly leaves out what has the version, and the UID, that it had.
func TestReplacePartWithChangedOnly(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithChangedOnly())
		f := &reasoned{}
		_, err := r.Follow(f)
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", things("a", "b", "c"), "2")
		f.next()
		other := *r.List()[0]
		other.UID = "another"
		list := []source.Staged{r.Sink.Stage(&other, "")}
		for _, obj := range r.List()[1:] {
			same := *obj
			list = append(list, r.Sink.Stage(&same, ""))
		}
		sinktest.ReplacePart(r.Sink, list, nil, index.Relisted, "5")
		assert.Equal(t, []string{fmt.Sprintf(`Relisted Updated %v, at "5"`, &other)}, f.next())
	})
}

// TestReplacePartIsAList: objects written and deleted before the list of a part may have left no
// events, so an expectation that it meets reports Listed.
func TestReplacePartIsAList(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", things("a"), "2")
		synctest.Wait()
		watched, err := r.ExpectVersion("3")
		require.NoError(t, err)
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		synctest.Wait()
		assert.True(t, watched.Met())
		assert.False(t, watched.Listed())
		listed, err := r.ExpectVersion("4")
		require.NoError(t, err)
		sinktest.ReplacePart(r.Sink, nil, nil, index.Relisted, "4")
		synctest.Wait()
		assert.True(t, listed.Met())
		assert.True(t, listed.Listed())
	})
}

// TestReleasedIsNotWaitedFor: an expected deletion is met when the object moves to another process.
func TestReleasedIsNotWaitedFor(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", things("a", "b"), "2")
		synctest.Wait()
		deleted, err := r.ExpectDeleted(rig.At("a", 1))
		require.NoError(t, err)
		looks := 0
		deleted.Watch(func() { looks++ })
		assert.False(t, deleted.Met())
		sinktest.ReplacePart(r.Sink, nil, []index.Key{rig.Key("a")}, index.Released, "3")
		synctest.Wait()
		assert.True(t, deleted.Met())
		assert.Positive(t, looks)
		deleted.Unwatch()
	})
}
