package control_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// TestExpectationReport reports keys with expectations, some of which were put off.
func TestExpectationReport(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t, control.WithExpectationTimeout(time.Hour)), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		start := time.Now()
		assert.Empty(t, d.Report(10))

		require.NoError(t, d.Expect("patient", r, "5"))
		time.Sleep(time.Second)
		require.NoError(t, d.Expect("waits", r, "7"))
		require.NoError(t, d.ExpectDeleted("waits", r, rig.At("a", 1)))
		time.Sleep(time.Second)
		require.NoError(t, d.Expect("waits", r, "9"))
		require.NoError(t, d.Expect("late", r, "9"))
		require.False(t, d.handOut("waits"))

		got := d.Report(10)
		require.Len(t, got, 3)
		first := got[0]
		require.Len(t, first.For, 2)
		assert.Contains(t, first.For[0], `deletion of "ns/a"`)
		assert.Contains(t, first.For[1], `version 9, is at "1"`)
		first.For = nil
		assert.Equal(t, control.ExpectationReport{Key: "waits", Waiting: true, Since: start.Add(time.Second), Deadline: start.Add(2*time.Second + time.Hour)}, first)
		assert.Equal(t, "patient", got[1].Key, "it expects something for longest")
		assert.False(t, got[1].Waiting)
		assert.Equal(t, "late", got[2].Key)
		assert.Len(t, d.Report(1), 1)
		assert.Empty(t, d.Report(0))
		assert.Empty(t, d.Report(-1))

		sinktest.Delete(r.Sink, rig.At("a", 8), "8")
		synctest.Wait()
		got = d.Report(10)
		require.Len(t, got, 2, "the version 5 is reflected")
		assert.Len(t, got[0].For, 1)
		sinktest.Bookmark(r.Sink, "9")
		synctest.Wait()
		assert.Empty(t, d.Report(10))
	})
}

// BenchmarkExpectationReport measures a report on so many keys that expect something.
func BenchmarkExpectationReport(b *testing.B) {
	for _, keys := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			e, err := control.NewExpectations(control.AdderFunc[string](func(string) {}), control.WithExpectationTimeout(time.Hour))
			require.NoError(b, err)
			informer := typed.NewInformer(rig.NewScript())
			for k := range keys {
				require.NoError(b, e.Expect(strconv.Itoa(k), informer, "5"))
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = e.Report(20)
			}
		})
	}
}
