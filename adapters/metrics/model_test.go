package metrics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/typed/report"
)

// TestCountersModel adds and removes informers of two kinds that count, and compares each scrape
// with the sum of all counts since the kind first had informers, up to the last scrape for those
// that have ended.
func TestCountersModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := &changing{}
		r, _ := newMetrics(t, metrics.WithFactories(list))
		told := map[string]map[*fake]float64{"Pod": {}, "Node": {}} // at the last scrape
		gone := map[string]float64{}
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				kind := rapid.SampledFrom([]string{"Pod", "Node"}).Draw(t, "kind")
				f := newFake("", kind, kind)
				f.status.Handlers = []report.Handler{{Name: "h", Times: &report.CallTimes{}}}
				list.now = append(list.now, f)
			},
			"count": func(t *rapid.T) {
				if len(list.now) == 0 {
					t.Skip("nobody counts")
				}
				f := list.now[rapid.IntRange(0, len(list.now)-1).Draw(t, "who")].(*fake)
				n := rapid.IntRange(1, 9).Draw(t, "more")
				f.status.Events += n
				times := *f.status.Handlers[0].Times
				times.Counts[n] += uint64(n)
				times.Sum += time.Duration(n) * time.Second
				f.status.Handlers[0].Times = &times
			},
			"go": func(t *rapid.T) {
				if len(list.now) == 0 {
					t.Skip("nobody is there")
				}
				at := rapid.IntRange(0, len(list.now)-1).Draw(t, "who")
				list.now = append(list.now[:at:at], list.now[at+1:]...)
			},
			"": func(t *rapid.T) {
				now := map[string]map[*fake]float64{"Pod": {}, "Node": {}}
				for _, i := range list.now {
					f := i.(*fake)
					now[f.status.Name][f] = float64(f.status.Events)
				}
				got := gather(t, r)
				for kind, there := range now {
					for f, counted := range told[kind] {
						if _, ok := there[f]; !ok {
							gone[kind] += counted
						}
					}
					const events, calls, seconds = "kubetyped_informer_events_total", "kubetyped_informer_handler_call_duration_seconds_count", "kubetyped_informer_handler_call_duration_seconds_sum"
					l := `{group="",kind="` + kind + `"}`
					if len(there) == 0 {
						gone[kind] = 0
						require.NotContains(t, got, events+l)
						require.NotContains(t, got, calls+l)
						continue
					}
					want := gone[kind]
					for _, counted := range there {
						want += counted
					}
					require.Equal(t, []float64{want, want, want}, []float64{got[events+l], got[calls+l], got[seconds+l]})
				}
				told = now
			},
		})
	})
}
