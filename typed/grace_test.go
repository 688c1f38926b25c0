package typed_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// TestGrace: an informer that is wanted again in time has never stopped.
func TestGrace(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t, typed.WithGrace(time.Minute))
		first := f.share("x")
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		first.Release()
		time.Sleep(59 * time.Second)
		require.Len(t, f.Status(), 1, "it goes on")
		second := f.share("x")
		assert.Len(t, f.scripts, 1, "it is the same one")
		assert.Equal(t, 1, second.Len())
		time.Sleep(time.Hour)
		assert.Equal(t, 1, second.Len(), "its user keeps it")

		second.Release()
		time.Sleep(61 * time.Second)
		assert.Empty(t, f.Status())
		third := f.share("x")
		assert.Len(t, f.scripts, 2, "the time was over")
		third.Release()
	})
}

// TestShutdownWaitsForNoGrace: nothing is left of an informer without users.
func TestShutdownWaitsForNoGrace(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t, typed.WithGrace(time.Hour))
		shared := f.share("x")
		shared.Release()
		begin := time.Now()
		f.Shutdown()
		assert.Zero(t, time.Since(begin))
	})
}

// TestWaitForSyncInTheTimeOfGrace: an informer without users is not waited for.
func TestWaitForSyncInTheTimeOfGrace(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t, typed.WithGrace(time.Hour))
		begin := time.Now()
		f.share("x").Release()
		assert.NoError(t, f.WaitForSync(t.Context()))
		again := f.share("x")
		require.Len(t, f.scripts, 1, "it goes on")
		waited := make(chan error, 1)
		go func() { waited <- f.WaitForSync(t.Context()) }()
		synctest.Wait()
		assert.Empty(t, waited)
		again.Release()
		assert.NoError(t, <-waited)
		assert.Zero(t, time.Since(begin))
	})
}

// TestReleaseAfterShutdown: it is released at once.
func TestReleaseAfterShutdown(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t, typed.WithGrace(time.Hour))
		shared := f.share("x")
		f.Shutdown()
		shared.Release()
		synctest.Wait()
	})
}

// TestGraceIsOfFactories: elsewhere it is an error that says so.
func TestGraceIsOfFactories(t *testing.T) {
	informer := typed.NewInformer(rig.NewScript(), typed.WithGrace(time.Second))
	assert.ErrorContains(t, informer.Run(t.Context()), "WithGrace is for informers of a factory, give it to NewFactory, Share or For")
	_, err := typed.Share(typed.NewFactory(typed.WithGrace(-1)), place("x"), newShop(t).source)
	assert.ErrorContains(t, err, "WithGrace: the time -1ns is negative")
	f := newShop(t)
	shared, err := typed.Share(f.Factory, place("x"), f.source, typed.WithGrace(time.Second))
	require.NoError(t, err)
	defer shared.Release()
	_, err = typed.Share(f.Factory, place("x"), f.source)
	assert.ErrorContains(t, err, "WithGrace is not the same")
}

// TestResyncJitter: periods are longer by a random part.
func TestResyncJitter(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
			r := rig.New(t)
			var at []time.Time
			_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{UpdateFunc: func(_, _ *rig.Thing) { at = append(at, time.Now()) }},
				typed.WithResync(100*time.Second), typed.WithResyncJitter(0.5), typed.WithDelivery(delivery))
			require.NoError(t, err)
			begin := time.Now()
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			time.Sleep(time.Hour)
			synctest.Wait()
			require.Greater(t, len(at), 23)
			lengths := map[time.Duration]bool{}
			for _, now := range at {
				length := now.Sub(begin)
				begin = now
				assert.GreaterOrEqual(t, length, 100*time.Second)
				assert.LessOrEqual(t, length, 150*time.Second)
				lengths[length] = true
			}
			assert.Greater(t, len(lengths), 10, "they differ")
			r.Stop()
			synctest.Wait()
		}
		r := rig.New(t)
		for _, wrong := range []float64{-0.1, 1.1} {
			_, err := r.Handle(&rig.Recorder{}, typed.WithResyncJitter(wrong))
			assert.ErrorContains(t, err, "give a fraction of the period, from 0 to 1")
		}
	})
}

// TestResyncJitterOfLongPeriods: the sum of a period and its jitter is as long as can be, and never negative.
func TestResyncJitterOfLongPeriods(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		updates := 0
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{UpdateFunc: func(_, _ *rig.Thing) {
			updates++
			time.Sleep(time.Minute)
		}}, typed.WithResync(math.MaxInt64), typed.WithResyncJitter(1))
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		time.Sleep(time.Hour)
		r.Stop()
		synctest.Wait()
		assert.Zero(t, updates)
	})
}
