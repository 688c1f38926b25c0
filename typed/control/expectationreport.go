package control

import (
	"fmt"
	"slices"
	"time"
)

// ExpectationReport describes the expectations of a key, for pages and logs.
type ExpectationReport struct {
	// Key is the key in words, as fmt.Sprint has it.
	Key string
	// Waiting reports that it was put off, and will be added when all is met.
	Waiting bool
	// For describes each unmet expectation: the informer and its progress.
	For []string
	// Since is when the key began to expect something, and has done so ever since; Deadline
	// is when it continues even if that is not met.
	Since, Deadline time.Time
}

// maxReported is how many keys a report looks at.
const maxReported = 10_000

// Report returns what is expected for up to n keys, the caller owns it: first those that were
// put off, and among these and the others those first that expect something for longest. Of
// more than 10,000 keys it looks at 10,000, any of them. Stats reports how many there are.
//
// Informers that meet an expectation, and workers, wait while it reads keys, about a
// millisecond for 10,000. The elements are not of one moment.
func (e *Expectations[K]) Report(n int) []ExpectationReport {
	var reports []ExpectationReport
	var unmet []awaited
	for _, c := range e.longest(n) {
		e.mu.Lock()
		r := ExpectationReport{Waiting: c.x.putOff, Since: c.since, Deadline: c.x.deadline}
		unmet = append(unmet[:0], c.x.unmet...)
		e.mu.Unlock()
		if len(unmet) == 0 {
			continue // it was met since
		}
		r.Key = fmt.Sprint(c.x.key)
		for _, it := range unmet {
			r.For = append(r.For, it.String())
		}
		reports = append(reports, r)
	}
	return reports
}

// candidate is an expectation that may be reported.
type candidate[K comparable] struct {
	x      *expectation[K]
	since  time.Time
	putOff bool
}

// compare puts first what was put off, and then what has waited longer.
func (c candidate[K]) compare(other candidate[K]) int {
	switch {
	case c.putOff == other.putOff:
		return c.since.Compare(other.since)
	case c.putOff:
		return -1
	}
	return 1
}

// longest returns the first n expectations by compare.
func (e *Expectations[K]) longest(n int) []candidate[K] {
	e.mu.Lock()
	all := make([]candidate[K], 0, min(len(e.keys), maxReported))
	for _, x := range e.keys {
		if len(all) == maxReported {
			break
		}
		all = append(all, candidate[K]{x: x, since: x.since, putOff: x.putOff})
	}
	e.mu.Unlock()
	slices.SortFunc(all, candidate[K].compare)
	return all[:max(0, min(n, len(all)))]
}
