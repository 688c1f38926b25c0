package control_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

func TestFilter(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := &rig.Recorder{}
		_, err := r.Handle(control.Filter(rec, rig.OnX), typed.WithResync(time.Minute))
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("x", rig.At("a", 1)), rig.On("y", rig.At("b", 2))}, "2")
		assert.Equal(t, []string{"initial a@1"}, rec.Next())
		time.Sleep(61 * time.Second)
		assert.Equal(t, []string{"resync a@1"}, rec.Next(), "only what is selected is resynced")
		sinktest.Put(r.Sink, rig.On("x", rig.At("a", 3)), "3")
		sinktest.Put(r.Sink, rig.On("x", rig.At("b", 4)), "4")
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 5)), "5")
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 6)), "6")
		assert.Equal(t, []string{"update a@1 a@3", "add b@4", "delete a@3 OutOfScope"}, rec.Next())
		sinktest.Put(r.Sink, rig.On("y", rig.At("c", 7)), "7")
		sinktest.Put(r.Sink, rig.On("x", rig.At("d", 8)), "8")
		sinktest.Delete(r.Sink, rig.On("y", rig.At("a", 9)), "9")
		sinktest.Delete(r.Sink, rig.On("x", rig.At("b", 10)), "10")
		assert.Equal(t, []string{"add d@8", "delete b@10 Watched"}, rec.Next())
	})
}

func TestFilterChecksItsArguments(t *testing.T) {
	r := rig.New(t)
	_, err := r.Handle(control.Filter[*rig.Thing](nil, rig.OnX))
	assert.ErrorContains(t, err, "handler is nil")
	_, err = r.Handle(control.Filter[*rig.Thing](&rig.Recorder{}, nil))
	assert.ErrorContains(t, err, "selection function is nil")
	reg, err := r.Handle(control.Filter(control.FilterUpdates(control.Enqueue[*rig.Thing](&adds[index.Key]{})), rig.OnX))
	require.NoError(t, err)
	assert.Equal(t, "enqueue", reg.Name())
}

// TestFilterModel changes objects at random, to which handlers listen that are
// slow or not and coalesce or not. Each knows, from its calls alone, what is
// selected: a call never contradicts the ones before.
func TestFilterModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		deliveries := []typed.Delivery{typed.EveryEvent(), typed.Coalesce()}
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 60).Draw(rt, "steps")
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) {
			r := rig.New(t)
			var known []*selectedState
			for _, delivery := range deliveries {
				for _, delay := range []time.Duration{0, 3 * time.Second} {
					h := &selectedState{Complaints: &found, delay: delay, objects: map[string]*rig.Thing{}}
					_, err := r.Handle(control.Filter(h, rig.OnX), typed.WithDelivery(delivery))
					require.NoError(t, err)
					known = append(known, h)
				}
			}
			r.Start()
			sinktest.Replace(r.Sink, "", nil, "1")
			for i, step := range steps {
				name, version := string(rune('a'+step%3)), i+2
				obj := rig.On([]string{"x", "y"}[step/3%2], rig.At(name, version))
				if step%5 == 0 {
					sinktest.Delete(r.Sink, obj, fmt.Sprint(version))
				} else {
					sinktest.Put(r.Sink, obj, fmt.Sprint(version))
				}
				if step%7 == 0 {
					time.Sleep(time.Second)
				}
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			want := map[string]*rig.Thing{}
			for obj := range r.All() {
				if rig.OnX(obj) {
					want[obj.Name] = obj
				}
			}
			for _, h := range known {
				assert.Equal(&found, want, h.objects)
			}
		})
		require.Empty(rt, found.List)
	})
}

// selectedState is a handler that plays its calls back.
type selectedState struct {
	*rig.Complaints
	delay   time.Duration
	objects map[string]*rig.Thing
}

func (s *selectedState) OnAdd(obj *rig.Thing, _ bool) {
	time.Sleep(s.delay)
	assert.NotContains(s, s.objects, obj.Name)
	assert.True(s, rig.OnX(obj))
	s.objects[obj.Name] = obj
}

func (s *selectedState) OnUpdate(old, updated *rig.Thing) {
	time.Sleep(s.delay)
	assert.Same(s, s.objects[updated.Name], old)
	assert.True(s, rig.OnX(updated))
	s.objects[updated.Name] = updated
}

func (s *selectedState) OnDelete(d typed.Deleted[*rig.Thing]) {
	time.Sleep(s.delay)
	assert.Same(s, s.objects[d.Key.Name], d.Old)
	delete(s.objects, d.Key.Name)
}
