package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// manyThings returns things with names from from on.
func manyThings(from, n int) (all []*rig.Thing) {
	for i := range n {
		all = append(all, rig.At(fmt.Sprint("thing-", from+i), 1))
	}
	return all
}

func TestBudgetOfObjects(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		ctx, lines := rig.Lines()
		var warnings []report.Budget
		r := rig.New(t, observe.WithBudget(observe.Budget{Objects: 10, OnWarning: func(b report.Budget) { warnings = append(warnings, b) }}))
		r.StartIn(ctx)
		sinktest.Replace(r.Sink, "", manyThings(0, 7), "1")
		synctest.Wait()
		assert.Equal(t, report.Budget{Objects: 10, Kept: 7, Used: 0.7}, r.Status().Budget)
		assert.Empty(t, warnings)

		sinktest.Put(r.Sink, rig.At("8th", 2), "2")
		synctest.Wait()
		want := report.Budget{Objects: 10, Kept: 8, Used: 0.8, Since: time.Now()}
		assert.Equal(t, want, r.Status().Budget)
		assert.Equal(t, []report.Budget{want}, warnings)
		logged := lines()
		require.Len(t, logged, 1)
		assert.Contains(t, logged[0], "Informer budget is 80% used")
		assert.Contains(t, logged[0], "objects=8")
		time.Sleep(time.Minute)
		sinktest.Put(r.Sink, rig.At("9th", 3), "3")
		synctest.Wait()
		assert.Equal(t, want.Since, r.Status().Budget.Since)
		assert.Len(t, warnings, 1, "it was said")
		sinktest.Delete(r.Sink, rig.At("8th", 4), "4")
		sinktest.Delete(r.Sink, rig.At("9th", 5), "5")
		synctest.Wait()
		assert.Zero(t, r.Status().Budget.Since)

		told := 0
		rig.CatchErrors(t, func(err error) {
			told++
			assert.ErrorContains(t, err, "is over its budget, 11 objects of 10: have it watch less")
		})
		sinktest.Replace(r.Sink, "", manyThings(0, 11), "6")
		synctest.Wait()
		sinktest.Put(r.Sink, rig.At("12th", 7), "7")
		synctest.Wait()
		assert.Len(t, warnings, 2)
		assert.Equal(t, 1, told)
		assert.Equal(t, 12, r.Len(), "without Stop it goes on")
	})
}

func TestBudgetStops(t *testing.T) {
	for name, list := range map[string]func(sink source.Sink[*rig.Thing]){
		"while the list comes":   func(sink source.Sink[*rig.Thing]) { sink.Progress(11, 500) },
		"when the list is there": func(sink source.Sink[*rig.Thing]) { sinktest.Replace(sink, "", manyThings(0, 11), "1") },
		"later": func(sink source.Sink[*rig.Thing]) {
			sinktest.Replace(sink, "", manyThings(0, 10), "1")
			synctest.Wait()
			sinktest.Put(sink, rig.At("11th", 2), "2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t, observe.WithBudget(observe.Budget{Objects: 10, Stop: true}))
				r.Start()
				list(r.Sink)
				err := <-r.Ended
				r.Ended <- nil
				var over *observe.BudgetError
				require.ErrorAs(t, err, &over)
				assert.EqualValues(t, 11, over.Objects)
				assert.False(t, over.Total)
				assert.Contains(t, over.Created.String(), "typed/budget_test.go:", "who made it")
				assert.ErrorContains(t, err, "informer *rig.Thing: it is over its budget, 11 objects of 10")
				assert.Error(t, r.WaitForSync(t.Context()))
			})
		})
	}
}

// heavy is a thing whose node weighs 1 MiB.
func heavy(name string, version int) *rig.Thing {
	return rig.On(string(make([]byte, 1<<20)), rig.At(name, version))
}

func TestBudgetOfBytes(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, observe.WithBudget(observe.Budget{Bytes: 10 << 20, Stop: true}))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{heavy("a", 1), heavy("b", 1)}, "1")
		synctest.Wait()
		b := r.Status().Budget
		assert.InEpsilon(t, 2<<20, b.HeapBytes, 0.01)
		assert.InEpsilon(t, 0.2, b.Used, 0.01)
		for i := range 6 {
			sinktest.Put(r.Sink, heavy(fmt.Sprint(i), 2+i), fmt.Sprint(2+i))
		}
		synctest.Wait()
		assert.InEpsilon(t, 0.8, r.Status().Budget.Used, 0.01)
		sinktest.Put(r.Sink, rig.On(string(make([]byte, 8<<20)), rig.At("a", 9)), "9") // no more objects than before
		synctest.Wait()
		assert.InEpsilon(t, 0.8, r.Status().Budget.Used, 0.01, "not weighed again yet")
		time.Sleep(31 * time.Second)
		sinktest.Bookmark(r.Sink, "10")
		err := <-r.Ended
		r.Ended <- nil
		var over *observe.BudgetError
		require.ErrorAs(t, err, &over)
		assert.ErrorContains(t, err, "about 15 MB of 10")
	})
}

func TestTotalBudget(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var ended []error
		rig.CatchErrors(t, func(err error) { ended = append(ended, err) })
		f := newShop(t, observe.WithTotalBudget(observe.Budget{Objects: 10, Stop: true}))
		a, b := f.share("a"), f.share("b")
		sinkA, sinkB := <-f.scripts[0].Started, <-f.scripts[1].Started
		sinktest.Replace(sinkA, "", manyThings(0, 6), "1")
		sinktest.Replace(sinkB, "", manyThings(0, 4), "1")
		synctest.Wait()
		assert.Empty(t, ended)
		sinktest.Delete(sinkA, manyThings(0, 1)[0], "2")
		synctest.Wait()
		sinktest.Put(sinkB, rig.At("5th", 2), "2")
		synctest.Wait()
		assert.Empty(t, ended, "what one gives up, the other may have")
		sinktest.Put(sinkB, rig.At("6th", 3), "3")
		synctest.Wait()
		var over *observe.BudgetError
		require.Len(t, ended, 1)
		require.ErrorAs(t, ended[0], &over)
		assert.True(t, over.Total)
		assert.Equal(t, b.Name(), over.Informer, "the one that has grown")
		assert.ErrorContains(t, over, "with the other informers of its factory it is over its budget, 11 objects of 10")
		assert.Equal(t, report.PhaseSynced, a.Status().Phase)
		used := a.Status().FactoryBudget
		assert.EqualValues(t, 11, used.Kept)
		assert.InDelta(t, 1.1, used.Used, 1e-9)
		assert.False(t, used.Since.IsZero())
		assert.Equal(t, used, b.Status().FactoryBudget, "it is that of both")
		assert.Zero(t, a.Status().Budget, "and none of their own")

		b.Release()
		synctest.Wait()
		assert.Equal(t, report.Budget{Objects: 10, Kept: 5, Used: 0.5}, a.Status().FactoryBudget, "at once")
		sinktest.Replace(sinkA, "", manyThings(0, 10), "3")
		synctest.Wait()
		assert.Len(t, ended, 1, "what is released is not counted")
		assert.Equal(t, 10, a.Len())

		sinkA.Progress(10, 10)
		synctest.Wait()
		assert.Len(t, ended, 1, "a list takes the place of what is there")
		c := f.share("c")
		sinktest.Delete(sinkA, manyThings(0, 1)[0], "4")
		synctest.Wait()
		sinkC := <-f.scripts[2].Started
		sinkC.Progress(1, 500)
		synctest.Wait()
		assert.Len(t, ended, 1)
		sinkC.Progress(2, 500)
		synctest.Wait()
		require.Len(t, ended, 2, "while the list comes")
		require.ErrorAs(t, ended[1], &over)
		assert.Equal(t, c.Name(), over.Informer)
		assert.ErrorContains(t, over, "with the other informers of its factory it is over its budget, 11 objects of 10")
	})
}

func TestFreeze(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		a := f.share("a")
		f.Freeze()
		again := f.share("a")
		assert.Equal(t, a.Name(), again.Name(), "what runs can be asked for")
		_, err := typed.Share(f.Factory, place("b"), f.source)
		require.ErrorIs(t, err, typed.ErrFrozen)
		assert.ErrorContains(t, err, "informer *rig.Thing b, asked for at typed/budget_test.go:")
		assert.Len(t, f.scripts, 1)

		a.Release()
		again.Release()
		synctest.Wait()
		_, err = typed.Share(f.Factory, place("a"), f.source)
		assert.ErrorIs(t, err, typed.ErrFrozen, "it would have to be started again")
	})
}

func TestCallSites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		own := typed.NewInformer(source.Source[*rig.Thing](rig.NewScript()))
		assert.Contains(t, own.Status().Created.String(), "typed/budget_test.go:")
		assert.Contains(t, own.Status().Created.Function, "TestCallSites")
		assert.Empty(t, own.Status().Holders)

		f := newShop(t)
		first, second := f.share("a"), f.share("a")
		other, err := typed.Share(f.Factory, place("a"), f.source)
		require.NoError(t, err)
		holders := other.Status().Holders
		require.Len(t, holders, 3)
		assert.Contains(t, holders[0].String(), "typed/budget_test.go:")
		assert.Equal(t, holders[1], holders[2], "both by share of factory_test.go")
		assert.Equal(t, holders[1], other.Status().Created, "the first one")
		assert.Equal(t, f.Status()[0].Holders, holders)
		first.Release()
		second.Release()
		assert.Equal(t, holders[:1], other.Status().Holders)
		assert.Equal(t, "unknown", report.CallSite{}.String())
	})
}

func TestStatusDoesNotWaitForTheFactory(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		first := f.share("a")
		var holders []report.CallSite
		_, err := typed.Share(f.Factory, place("b"), func() source.Source[*rig.Thing] {
			holders = first.Status().Holders
			return f.source()
		})
		require.NoError(t, err)
		assert.Len(t, holders, 1)
	})
}
