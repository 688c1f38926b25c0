package typed_test

import (
	"context"

	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestBadInput makes every mistake that arguments allow.
func TestBadInput(t *testing.T) {
	t.Run("options", func(t *testing.T) {
		for name, informer := range map[string]*typed.Informer[*rig.Thing]{
			"source is nil":                      typed.NewInformer[*rig.Thing](nil),
			"informer *rig.Thing: source is nil": typed.NewInformer[*rig.Thing]((*located)(nil)),
			"option is nil":                      typed.NewInformer(rig.NewScript(), nil),
			"the name is empty":                  typed.NewInformer(rig.NewScript(), typed.WithName("")),
			"WithTransform: function is nil":     typed.NewInformer(rig.NewScript(), typed.WithTransform[*rig.Thing](nil)),
			"objects are of type *rig.":          typed.NewInformer(rig.NewScript(), typed.WithTransform(kube.StripManagedFields[metav1.Object])),
			"objects are of type *rig":           typed.NewInformer(rig.NewScript(), typed.WithTransform(func(p *corev1.Pod) (*corev1.Pod, error) { return p, nil })),
		} {
			assert.ErrorContains(t, informer.Run(t.Context()), name)
			assert.ErrorContains(t, informer.WaitForSync(t.Context()), name)
			assert.ErrorContains(t, informer.WaitForResourceVersion(t.Context(), "1"), name)
			assert.ErrorContains(t, informer.AddIndexes(index.New("x", func(*rig.Thing) []string { return nil })), name)
			_, err := informer.Handle(&rig.Recorder{})
			assert.ErrorContains(t, err, name)
			events := informer.Events(t.Context())
			for range events.All() {
				t.Error("there are no events")
			}
			assert.ErrorContains(t, events.Err(), name)
			assert.Zero(t, informer.Len())
		}
		placements := source.Map(rig.NewScript(), rig.PlacementOf)
		assert.ErrorContains(t, typed.NewInformer(placements, typed.WithRecreation()).Run(t.Context()), "no method GetUID")
		assert.ErrorContains(t, typed.NewInformer(placements, typed.WithChangedOnly()).Run(t.Context()), "no method GetResourceVersion")
	})
	t.Run("handlers", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			_, err := r.Handle(nil)
			assert.ErrorContains(t, err, "handler is nil")
			for _, none := range []typed.Handler[*rig.Thing]{(*rig.Recorder)(nil), (*describer)(nil), (*typed.HandlerFuncs[*rig.Thing])(nil)} {
				_, err := r.Handle(none)
				assert.ErrorContains(t, err, "informer "+r.Name()+": handler not added: handler is nil: create it")
			}
			for name, opt := range map[string]typed.HandlerOption{
				"option is nil":                     nil,
				"resync period -1s is negative":     typed.WithResync(-time.Second),
				"the handler's name is empty":       typed.WithHandlerName(""),
				"WithOnSynced: function is nil":     typed.WithOnSynced(nil),
				"Block(0) needs room for at least":  typed.WithDelivery(typed.Block(0)),
				"Block(-1) needs room for at least": typed.WithDelivery(typed.Block(-1)),
			} {
				_, err := r.Handle(&rig.Recorder{}, opt)
				assert.ErrorContains(t, err, name)
			}
			assert.Empty(t, r.Status().Handlers)
		})
	})
	t.Run("indexes", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
			require.NoError(t, r.AddIndexes(byNode))
			require.NoError(t, r.AddIndexes(byNode))
			assert.ErrorIs(t, rig.New(t).AddIndexes(byNode), index.ErrIndexInUse)
			assert.ErrorIs(t, r.AddIndexes(byNode.Clone()), index.ErrNameTaken)
			assert.Len(t, r.Indexes(), 1)
			same, err := index.Ensure(r.Informer, byNode)
			require.NoError(t, err)
			assert.Same(t, byNode, same)
			r.RemoveIndexes(byNode)
			assert.Empty(t, r.Indexes())
			for _, none := range []index.Definition[*rig.Thing]{nil, (*index.Index[string, *rig.Thing])(nil), (*index.Ordered[int, *rig.Thing])(nil)} {
				err := r.AddIndexes(byNode, none)
				assert.ErrorContains(t, err, "informer "+r.Name()+": index: a nil index was added: make it with New")
			}
			_, err = index.Ensure[string](r.Informer, nil)
			assert.ErrorContains(t, err, "nil index")
			assert.Empty(t, r.Indexes())
		})
	})
}

// describer is a Describer that reads its fields.
type describer struct {
	typed.HandlerFuncs[*rig.Thing]
	name string
}

func (d *describer) Describe() (string, error) { return d.name, nil }

func TestRunTwice(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		assert.ErrorIs(t, r.Run(t.Context()), typed.ErrStarted)
		synctest.Wait()
		assert.Equal(t, 1, r.Len(), "the first one goes on")
	})
}

// TestEvents ranges over the events of an informer.
func TestEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		var seen []string
		for e := range r.Events(t.Context()).All() {
			seen = append(seen, e.Type.String()+" "+e.Reason.String()+" "+e.Key().Name)
			switch len(seen) {
			case 1:
				sinktest.Put(r.Sink, rig.At("a", 2), "2")
				sinktest.Delete(r.Sink, rig.At("a", 3), "3")
			case 3:
				sinktest.Put(r.Sink, rig.At("b", 4), "4")
			}
			if e.Type == index.Added && e.Reason == index.Watched {
				break
			}
		}
		assert.Equal(t, []string{"Added Initial a", "Updated Watched a", "Deleted Watched a", "Added Watched b"}, seen)
		assert.Empty(t, r.Status().Handlers, "the loop was left")

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		count := 0
		for range r.Events(ctx).All() {
			count++
			cancel()
		}
		assert.Equal(t, 1, count, "the range ends with its context")
	})
}

// TestMemoryIsReleased checks that a released informer keeps no object alive,
// though it is reachable itself, with its index, its handler and its events.
func TestMemoryIsReleased(t *testing.T) {
	r := rig.New(t)
	byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
	require.NoError(t, r.AddIndexes(byNode))
	rec := r.Record()
	coalescing := r.Record(typed.WithDelivery(typed.Coalesce()))
	r.Start()
	objects := make([]weak.Pointer[rig.Thing], 2000)
	func() {
		list := make([]*rig.Thing, len(objects))
		for i := range list {
			list[i] = rig.At(string(rune('a'+i%26))+string(rune('a'+i/26)), i)
			objects[i] = weak.Make(list[i])
		}
		sinktest.Replace(r.Sink, "", list, "1")
	}()
	require.NoError(t, rec.WaitForSync(t.Context()))
	require.NoError(t, coalescing.WaitForSync(t.Context()))
	runtime.GC()
	assert.NotNil(t, objects[7].Value())
	updated := weak.Make(mustGet(t, r, objects[7].Value().Name))
	sinktest.Put(r.Sink, rig.At(objects[7].Value().Name, 9999), "9999")
	require.NoError(t, r.WaitForResourceVersion(t.Context(), "9999"))
	for r.Status().Handlers[0].Backlog+r.Status().Handlers[1].Backlog > 0 {
		runtime.Gosched()
	}
	for i := 0; updated.Value() != nil && i < 100; i++ {
		runtime.GC()
	}
	assert.Nil(t, updated.Value(), "nothing keeps the old object while the informer is idle")

	r.Stop()
	require.NoError(t, <-r.Ended)
	r.Ended <- nil
	runtime.GC()
	assert.Equal(t, len(objects)-1, countAlive(objects), "a stopped one keeps them all, as they were")
	require.NoError(t, r.Release())
	runtime.GC()
	assert.Zero(t, countAlive(objects))
	runtime.KeepAlive(byNode)
	runtime.KeepAlive(rec)
	runtime.KeepAlive(r)
}

func countAlive(objects []weak.Pointer[rig.Thing]) (alive int) {
	for _, o := range objects {
		if o.Value() != nil {
			alive++
		}
	}
	return alive
}

func mustGet(t *testing.T, r *rig.Rig, name string) *rig.Thing {
	o, ok := r.Get(rig.Key(name))
	require.True(t, ok)
	return o
}

// TestWaitsAfterTheEnd waits with a context that has ended.
func TestWaitsAfterTheEnd(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 { // a select would choose at random
			assert.NoError(t, r.WaitForSync(ended), "it is synced")
			assert.NoError(t, rec.WaitForSync(ended))
			assert.NoError(t, r.WaitForResourceVersion(ended, "1"))
		}
		r.Stop()
		synctest.Wait()
		for _, err := range []error{r.WaitForSync(ended), r.WaitForResourceVersion(ended, "2")} {
			assert.ErrorIs(t, err, typed.ErrStopped, "both reasons are there")
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

// located is a source that cannot be nil.
type located struct {
	source.Source[*rig.Thing]
	origin source.Origin
}

func (l *located) Origin() source.Origin { return l.origin }
