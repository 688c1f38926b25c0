package faults

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// report is what the tests have found, in the order in which they ran.
var report tables

type tables struct {
	mu         sync.Mutex
	verdicts   []string // guarded by mu; rows
	recoveries []string // guarded by mu; rows
}

func (r *tables) addVerdict(fault string, times, objects, writes int, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verdicts = append(r.verdicts, fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |",
		fault, times, objects, writes, v.events, v.relisted, len(v.lost), len(v.divergent)))
}

// addRecovery takes how long informers were behind, in order.
func (r *tables) addRecovery(outage string, down time.Duration, theirs, ours []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recoveries = append(r.recoveries, fmt.Sprintf("| %s | %.1f s | %s | %s |", outage, down.Seconds(), spread(theirs), spread(ours)))
}

// spread describes durations that are in order.
func spread(ds []time.Duration) string {
	return fmt.Sprintf("%.1f s (%.1f to %.1f)", ds[len(ds)/2].Seconds(), ds[0].Seconds(), ds[len(ds)-1].Seconds())
}

// String returns the tables.
func (r *tables) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return "| Fault | Times | Objects | Writes | Events | of them by relist | Lost events | Divergent objects |\n" +
		"|---|--:|--:|--:|--:|--:|--:|--:|\n" + strings.Join(r.verdicts, "\n") + "\n\n" +
		"| Outage | in all | client-go is behind for | this project |\n|---|--:|--:|--:|\n" + strings.Join(r.recoveries, "\n") + "\n"
}

const (
	reportBegin = "<!-- made by e2e/faults -->\n"
	reportEnd   = "<!-- end -->"
)

// writeReport replaces what is between the marks in the file at path.
func writeReport(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("replace the tables: %w", err)
	}
	before, rest, ok := strings.Cut(string(content), reportBegin)
	_, after, closed := strings.Cut(rest, reportEnd)
	if !ok || !closed {
		return fmt.Errorf("replace the tables: %s has no %q with %q after it", path, strings.TrimSpace(reportBegin), reportEnd)
	}
	return os.WriteFile(path, []byte(before+reportBegin+report.String()+reportEnd+after), 0o644)
}
