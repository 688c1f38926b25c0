package typed_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
)

var (
	_ typed.AnyInformer = (*typed.Informer[*rig.Thing])(nil)
	_ typed.AnyInformer = (*typed.SharedInformer[*rig.Thing])(nil)
)

func TestExplain(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, observe.WithHistory(4))
		require.NoError(t, r.AddIndexes(
			index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, o.Name == "b" }),
			index.New("letters", func(o *rig.Thing) (letters []int) {
				for _, letter := range o.Name {
					letters = append(letters, int(letter))
				}
				return letters
			}),
			index.NewOrdered("version", func(o *rig.Thing) (int, bool) { return o.Version, o.Version > 1 })))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("ab", 1), rig.On("n1", rig.At("b", 2))}, "2")
		synctest.Wait()
		first := time.Now()
		k := r.Explain(rig.Key("ab"))
		assert.True(t, k.Found)
		assert.Equal(t, "1", k.ResourceVersion)
		assert.Equal(t, map[string][]string{"letters": {"97", "98"}}, k.Indexes)
		assert.Equal(t, []report.Event{{Key: rig.Key("ab"), Type: index.Added, Reason: index.Initial, ResourceVersion: "1", At: first}}, k.Events)
		assert.Equal(t, map[string][]string{"letters": {"98"}, "node": {"n1"}, "version": {"2"}}, r.Explain(rig.Key("b")).Indexes)
		assert.Equal(t, []index.IndexSize{{Name: "node", Keys: 1, Largest: 1}, {Name: "letters", Keys: 2, Largest: 2}, {Name: "version", Keys: 1, Largest: 1}}, r.IndexSizes())

		time.Sleep(time.Hour)
		sinktest.Put(r.Sink, rig.At("ab", 3), "3")
		sinktest.Delete(r.Sink, rig.At("ab", 4), "4")
		synctest.Wait()
		k = r.Explain(rig.Key("ab"))
		assert.False(t, k.Found)
		assert.Empty(t, k.Indexes)
		require.Len(t, k.Events, 3)
		assert.Equal(t, report.Event{Key: rig.Key("ab"), Type: index.Deleted, Reason: index.Watched, ResourceVersion: "4", At: time.Now()}, k.Events[0])
		assert.Equal(t, []index.EventType{index.Deleted, index.Updated, index.Added}, []index.EventType{k.Events[0].Type, k.Events[1].Type, k.Events[2].Type})
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 5), rig.At("b", 5), rig.At("c", 5), rig.At("", 5)}, "5")
		synctest.Wait()
		assert.Len(t, r.Explain(rig.Key("ab")).Events, 1, "the last four are kept")
		assert.ErrorContains(t, r.Explain(rig.Key("")).Rejected, "no name")

		text, err := r.ObjectJSON(rig.Key("b"))
		require.NoError(t, err)
		assert.Contains(t, string(text), `"Name":"b"`)
		_, err = r.ObjectJSON(rig.Key("zz"))
		assert.ErrorContains(t, err, "there is no object ns/zz")
	})
}

func TestEstimateHeap(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		assert.Zero(t, r.EstimateHeap(10))
		r.Start()
		var all []*rig.Thing
		for i := range 100 {
			all = append(all, heavy(string(rune('a'+i)), 1))
		}
		sinktest.Replace(r.Sink, "", all, "1")
		synctest.Wait()
		h := r.EstimateHeap(8)
		assert.Equal(t, 100, h.Objects)
		assert.Equal(t, 8, h.Sampled)
		assert.InEpsilon(t, 100<<20, h.Bytes, 0.01)
		assert.Equal(t, 100, r.EstimateHeap(1000).Sampled)
		assert.Equal(t, 60, r.EstimateHeap(60).Sampled)
		assert.Zero(t, r.EstimateHeap(0))

		place, light := 0, map[index.Key]bool{}
		for o := range r.Snapshot().All() { // in the order in which they are measured
			if place >= 60 {
				light[index.KeyOf(o)] = true
			}
			place++
		}
		for n, o := range all {
			if light[index.KeyOf(o)] {
				all[n] = rig.At(o.Name, 2)
			}
		}
		sinktest.Replace(r.Sink, "", all, "2")
		synctest.Wait()
		assert.InEpsilon(t, 60<<20, r.EstimateHeap(60).Bytes, 0.02, "they are spread over all")
	})
}

func TestAnyInformerAfterRelease(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		use := f.share("a")
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		informers := f.Informers()
		require.Len(t, informers, 1)
		assert.True(t, informers[0].Explain(rig.Key("a")).Found)
		use.Release()
		synctest.Wait()
		assert.Empty(t, f.Informers())
		for _, informer := range []typed.AnyInformer{informers[0], use} {
			assert.Equal(t, "*rig.Thing a", informer.Name())
			assert.Equal(t, report.PhaseStopped, informer.Status().Phase)
			assert.Zero(t, informer.EstimateHeap(1))
			assert.Empty(t, informer.IndexSizes())
			assert.Zero(t, informer.Explain(rig.Key("a")))
			_, err := informer.ObjectJSON(rig.Key("a"))
			assert.ErrorIs(t, err, index.ErrReleased)
		}
	})
}
