package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/report"
)

func TestMedian(t *testing.T) {
	assert.InDelta(t, 2, median([]float64{1, 2, 9}), 0)
	assert.InDelta(t, 3, median([]float64{1, 2, 4, 9}), 0)
	assert.InDelta(t, 7, median([]float64{7}), 0)
}

func TestTableComparesTheSides(t *testing.T) {
	took := func(seconds ...int) (ms []measurement) {
		for _, s := range seconds {
			d := time.Duration(s) * time.Second
			ms = append(ms, measurement{
				synced: synced{usage: usage{Took: d, CPU: d, Peak: int64(s) * 10e6}, Heap: int64(s) * 1e6},
				events: events{usage: usage{Took: d, CPU: d, Peak: int64(s) * 20e6}, Updates: 1000},
			})
		}
		return ms
	}
	c := comparison{plan: plan{ours: []string{sideTyped, sideFields}, pods: 2000}, results: map[string][]measurement{
		sideClientGo: took(4, 8, 2), sideTyped: took(1, 3, 2), sideFields: took(1, 1, 1),
	}}

	table := c.table()
	assert.Equal(t, []string{"", "client-go", "typed", "typed, six fields"}, table.Head)
	assert.Equal(t, [][]string{
		{"time to sync, s", "4.00 (2.00 to 8.00)", "2.00 (1.00 to 3.00): 2.00×", "1.00 (1.00 to 1.00): 4.00×"},
		{"CPU time to sync, s", "4.00 (2.00 to 8.00)", "2.00 (1.00 to 3.00): 2.00×", "1.00 (1.00 to 1.00): 4.00×"},
		{"peak memory until synced, MB", "40 (20 to 80)", "20 (10 to 30): 2.00×", "10 (10 to 10): 4.00×"},
		{"live heap when synced, MB", "4 (2 to 8)", "2 (1 to 3): 2.00×", "1 (1 to 1): 4.00×"},
		{"events a second", "250 (125 to 500)", "500 (333 to 1000): 2.00×", "1000 (1000 to 1000): 4.00×"},
		{"CPU time an event, µs", "4000 (2000 to 8000)", "2000 (1000 to 3000): 2.00×", "1000 (1000 to 1000): 4.00×"},
		{"peak memory in all, MB", "80 (40 to 160)", "40 (20 to 60): 2.00×", "20 (20 to 20): 4.00×"},
	}, table.Rows)

	processes := c.processes()
	assert.Equal(t, "2,000 Pods on a real API server", processes.Title)
	require.Len(t, processes.Needs, 4)
	assert.Equal(t, report.Need{Name: "Heap that is kept", Unit: "MB", Sides: []report.Used{{Side: "client-go", Value: 4}, {Side: "typed", Value: 2}, {Side: "typed, six fields", Value: 1}}}, processes.Needs[2])
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20_000: "20,000", 1_234_567: "1,234,567"} {
		assert.Equal(t, want, thousands(n))
	}
}
