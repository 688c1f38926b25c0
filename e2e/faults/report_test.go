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

func (r *tables) addRecovery(outage string, theirs, ours []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recoveries = append(r.recoveries, fmt.Sprintf("| %s | %s | %s |", outage, seconds(theirs), seconds(ours)))
}

func seconds(ds []time.Duration) string {
	texts := make([]string, len(ds))
	for i, d := range ds {
		texts[i] = fmt.Sprintf("%.1f s", d.Seconds())
	}
	return strings.Join(texts, ", ")
}

// String returns the tables.
func (r *tables) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return "| Fault | Times | Objects | Writes | Events | of them by relist | Lost events | Divergent objects |\n" +
		"|---|--:|--:|--:|--:|--:|--:|--:|\n" + strings.Join(r.verdicts, "\n") + "\n\n" +
		"| Outage | client-go | this project |\n|---|--:|--:|\n" + strings.Join(r.recoveries, "\n") + "\n"
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
