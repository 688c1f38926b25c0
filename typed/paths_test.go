package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestReasonsComeToHandlers: the reason of a change, a step or a list is that of its events,
// whatever it is; 0 is the usual one.
func TestReasonsComeToHandlers(t *testing.T) {
	key := rig.Key("a")
	for name, report := range map[string]func(to source.Sink[*rig.Thing], reason index.Reason){
		"an object": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Change(index.Change[*rig.Thing]{Object: rig.At("a", 2), Reason: reason}, "2")
		},
		"a deletion": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Change(index.Change[*rig.Thing]{Delete: true, Object: rig.At("a", 2), Reason: reason}, "2")
		},
		"a deletion by key": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, Reason: reason}, "2")
		},
		"a step": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Step([]index.Change[*rig.Thing]{{Object: rig.At("a", 2), Reason: reason}}, "2", nil)
		},
		"a step of a deletion": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Step([]index.Change[*rig.Thing]{{Delete: true, Key: &key, Reason: reason}}, "2", nil)
		},
		"a list": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Replace(source.List{Items: sinktest.StageAll(to, rig.At("a", 2)), Reason: reason}, "2")
		},
		"a list of a namespace": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Replace(source.List{Namespace: key.Namespace, Items: sinktest.StageAll(to, rig.At("a", 2)), Reason: reason}, "2")
		},
		"a list of a part": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Replace(source.List{Part: true, Gone: []index.Key{key}, Reason: reason}, "2")
		},
		"a namespace that leaves": func(to source.Sink[*rig.Thing], reason index.Reason) {
			to.Replace(source.List{Namespace: key.Namespace, Reason: reason}, "2")
		},
	} {
		for reason := index.Reason(0); reason <= index.Released; reason++ {
			t.Run(fmt.Sprint(name, " ", reason), func(t *testing.T) {
				rig.InBubble(t, func(t *testing.T) {
					r := rig.New(t)
					r.Start()
					sinktest.Replace(r.Sink, "", things("a"), "1")
					f := &reasons{}
					_, err := r.Follow(f)
					require.NoError(t, err)
					synctest.Wait()
					f.told = nil
					report(r.Sink, reason)
					synctest.Wait()
					want := reason
					if reason == 0 {
						want = f.told[0]
						assert.Contains(t, []index.Reason{index.Watched, index.Relisted}, want)
					}
					assert.Equal(t, []index.Reason{want}, f.told)
					assert.Equal(t, "2", r.ResourceVersion())
				})
			})
		}
	}
}

// reasons is a follower that keeps the reasons of events.
type reasons struct {
	followed
	told []index.Reason
}

func (f *reasons) Step(events []index.Event[*rig.Thing], _ string) {
	for _, e := range events {
		f.told = append(f.told, e.Reason)
	}
}

// TestChangeOfAUID counts for the object of that UID only, alone and in a step, before there is a
// list and after one; and a rejected object of its name stays reported.
func TestChangeOfAUID(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		first := rig.At("a", 1)
		first.UID = "1"
		sinktest.Replace(r.Sink, "", []*rig.Thing{first}, "1")
		key, own, other := rig.Key("a"), types.UID("1"), types.UID("2")
		r.Sink.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, UID: &other}, "2")
		r.Sink.Step([]index.Change[*rig.Thing]{{Delete: true, Key: &key, UID: &other}, {Object: rig.At("a", 9), UID: &other}}, "3", nil)
		synctest.Wait()
		assert.Equal(t, "3", r.ResourceVersion(), "the version moves in any case")
		got, _ := r.Get(key)
		assert.Same(t, first, got)
		r.Sink.Report(&source.RejectedError{Key: key, Err: errPoison})
		r.Sink.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, UID: &other}, "4")
		synctest.Wait()
		assert.NotNil(t, r.Rejected(key), "it is not the one that was deleted")
		r.Sink.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, UID: &own}, "5")
		synctest.Wait()
		assert.Zero(t, r.Len())
	})
}

// TestStepWhileTheFirstListIsWithheld is all of the initial list, not the half of it, and calls its
// function when it is done, even if all of its objects are rejected.
func TestStepWhileTheFirstListIsWithheld(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		f := &followed{}
		_, err := r.Follow(f)
		require.NoError(t, err)
		sinktest.Replace(r.Sink, "", []*rig.Thing{poison("a", 1)}, "1")
		done := 0
		r.Sink.Step([]index.Change[*rig.Thing]{{Object: poison("b", 2)}}, "2", func() { done++ })
		synctest.Wait()
		assert.Equal(t, 1, done)
		assert.Zero(t, r.Len())
		f.next()
		uid := types.UID("u")
		r.Sink.Change(index.Change[*rig.Thing]{Object: rig.At("x", 3), UID: &uid}, "3")
		synctest.Wait()
		assert.Zero(t, r.Len(), "it is about what is not there")
		r.Sink.Step([]index.Change[*rig.Thing]{{Object: rig.At("b", 4)}, {Object: rig.At("c", 5)}}, "5", func() { done += r.Len() })
		synctest.Wait()
		assert.Equal(t, 3, done, "and reads reflect it then")
		assert.Equal(t, "5", r.ResourceVersion())
		assert.Equal(t, []string{"report <nil>", `step Added b@4 Added c@5 at "5"`, "synced"}, f.next(), "readers see all of it at once")
	})
}
