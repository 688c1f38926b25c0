package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

func onX(o *thing) bool { return o.node == "x" }

func TestSelect(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := &recorder{}
		_, err := r.Handle(typed.Select(rec, onX), typed.WithResync(time.Minute))
		require.NoError(t, err)
		r.run()
		r.sink.Replace([]*thing{on("x", at("a", 1)), on("y", at("b", 2))}, "2")
		assert.Equal(t, []string{"initial a@1"}, rec.next())
		time.Sleep(61 * time.Second)
		assert.Equal(t, []string{"resync a@1"}, rec.next(), "only what is selected is resynced")
		r.sink.Update(on("x", at("a", 3)), "3")
		r.sink.Update(on("x", at("b", 4)), "4")
		r.sink.Update(on("y", at("a", 5)), "5")
		r.sink.Update(on("y", at("a", 6)), "6")
		assert.Equal(t, []string{"update a@1 a@3", "add b@4", "delete a@3 ScopeRemoved"}, rec.next())
		r.sink.Add(on("y", at("c", 7)), "7")
		r.sink.Add(on("x", at("d", 8)), "8")
		r.sink.Delete(on("y", at("a", 9)), "9")
		r.sink.Delete(on("x", at("b", 10)), "10")
		assert.Equal(t, []string{"add d@8", "delete b@10 Watched"}, rec.next())
	})
}

func TestSelectChecksItsArguments(t *testing.T) {
	r := newRig(t)
	_, err := r.Handle(typed.Select[*thing](nil, onX))
	assert.ErrorContains(t, err, "the handler is nil")
	_, err = r.Handle(typed.Select[*thing](&recorder{}, nil))
	assert.ErrorContains(t, err, "the function that selects is nil")
	reg, err := r.Handle(typed.Select(typed.Filter(typed.Enqueue[*thing](&adds[index.Key]{})), onX))
	require.NoError(t, err)
	assert.Equal(t, "enqueue", reg.Name())
}

// TestSelectModel changes objects at random, to which handlers listen that are
// slow or not and coalesce or not. Each knows, from its calls alone, what is
// selected: a call never contradicts the ones before.
func TestSelectModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		deliveries := []typed.Delivery{typed.EveryEvent(), typed.Coalesce()}
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 60).Draw(rt, "steps")
		var found complaints
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			var known []*selectedState
			for _, delivery := range deliveries {
				for _, delay := range []time.Duration{0, 3 * time.Second} {
					h := &selectedState{complaints: &found, delay: delay, objects: map[string]*thing{}}
					_, err := r.Handle(typed.Select(h, onX), typed.WithDelivery(delivery))
					require.NoError(t, err)
					known = append(known, h)
				}
			}
			r.run()
			r.sink.Replace(nil, "1")
			for i, step := range steps {
				name, version := string(rune('a'+step%3)), i+2
				obj := on([]string{"x", "y"}[step/3%2], at(name, version))
				if step%5 == 0 {
					r.sink.Delete(obj, fmt.Sprint(version))
				} else {
					r.sink.Update(obj, fmt.Sprint(version))
				}
				if step%7 == 0 {
					time.Sleep(time.Second)
				}
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			want := map[string]*thing{}
			for obj := range r.All() {
				if onX(obj) {
					want[obj.name] = obj
				}
			}
			for _, h := range known {
				assert.Equal(&found, want, h.objects)
			}
		})
		require.Empty(rt, found.list)
	})
}

// selectedState is a handler that plays its calls back.
type selectedState struct {
	*complaints
	delay   time.Duration
	objects map[string]*thing
}

func (s *selectedState) OnAdd(obj *thing, _ bool) {
	time.Sleep(s.delay)
	assert.NotContains(s, s.objects, obj.name)
	assert.True(s, onX(obj))
	s.objects[obj.name] = obj
}

func (s *selectedState) OnUpdate(old, updated *thing) {
	time.Sleep(s.delay)
	assert.Same(s, s.objects[updated.name], old)
	assert.True(s, onX(updated))
	s.objects[updated.name] = updated
}

func (s *selectedState) OnDelete(d typed.Deleted[*thing]) {
	time.Sleep(s.delay)
	assert.Same(s, s.objects[d.Key.Name], d.Old)
	delete(s.objects, d.Key.Name)
}
