package faults

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	document "github.com/kubetyped/informer/internal/test/report"
)

// report is what the tests have found, in the order in which they ran.
var report tables

type tables struct {
	mu         sync.Mutex
	verdicts   [][]string // guarded by mu; rows
	recoveries [][]string // guarded by mu; rows
}

func (r *tables) addVerdict(fault string, times, objects, writes int, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := []string{fault}
	for _, n := range []int{times, objects, writes, v.events, v.relisted, len(v.lost), len(v.divergent)} {
		row = append(row, strconv.Itoa(n))
	}
	r.verdicts = append(r.verdicts, row)
}

// addRecovery takes how long informers were behind, in order.
func (r *tables) addRecovery(outage string, down time.Duration, theirs, ours []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recoveries = append(r.recoveries, []string{outage, fmt.Sprintf("%.1f s", down.Seconds()), spread(theirs), spread(ours)})
}

// spread describes durations that are in order.
func spread(ds []time.Duration) string {
	return fmt.Sprintf("%.1f s (%.1f to %.1f)", ds[len(ds)/2].Seconds(), ds[0].Seconds(), ds[len(ds)-1].Seconds())
}

// String returns the tables.
func (r *tables) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdicts := document.Table{
		Head: []string{"Fault", "Times", "Objects", "Writes", "Events", "of them by relist", "Lost events", "Divergent objects"},
		Rows: r.verdicts,
	}
	recoveries := document.Table{
		Head: []string{"Outage", "in all", "client-go is behind for", "this project"},
		Rows: r.recoveries,
	}
	return verdicts.Markdown() + "\n" + recoveries.Markdown()
}

// writeReport replaces the tables in the file at path.
func writeReport(path string) error {
	return document.Replace(path, "e2e/faults", report.String())
}
