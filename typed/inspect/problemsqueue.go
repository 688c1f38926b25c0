package inspect

import (
	"fmt"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// namedFailures is how many of the keys that fail are separate problems.
const namedFailures = 3

// queue looks at a queue.
func (f *finding) queue(q *snapshot.Queue) {
	named := 0
	for n := range q.Failing {
		fails := &q.Failing[n]
		if named == namedFailures {
			break
		}
		if fails.Failures < fewFailures && !fails.Terminal {
			continue // a later one may be terminal
		}
		p := snapshot.Problem{Severity: snapshot.Warning, Reason: "KeyFailing", Part: q.ID, Name: q.Name, Key: fails.Key, Detail: fails.Error, Since: fails.Since}
		p.Text = fmt.Sprintf("key %s fails, %s in a row", fails.Key, counted(fails.Failures, "time"))
		if fails.Terminal {
			p.Text += ", and is not tried again"
		}
		f.add(88-float64(named)/100, p)
		named++
	}
	if rest := q.FailingKeys - named; named > 0 && rest > 0 {
		f.add(87.9, snapshot.Problem{Severity: snapshot.Warning, Reason: "KeyFailing", Part: q.ID, Name: q.Name,
			Text: others(rest)})
	}
	f.work(q)
	if q.OldestSeconds >= longWait {
		p := snapshot.Problem{Severity: snapshot.Warning, Part: q.ID, Name: q.Name, Key: q.Oldest, Reason: "QueueWaiting"}
		p.Since = f.now.Add(-time.Duration(q.OldestSeconds * float64(time.Second)))
		p.Text = fmt.Sprintf("%s, key %s the longest", waiting(q.Waiting), q.Oldest)
		if q.InWork == 0 {
			p.Text += ", and nothing is worked on"
		}
		f.add(78, p)
	}
}

// others says how many keys fail in addition to those that were named.
func others(n int) string {
	if n == 1 {
		return "1 other key fails"
	}
	return grouped(int64(n)) + " other keys fail"
}

// work looks at the keys of a queue that are being worked on.
func (f *finding) work(q *snapshot.Queue) {
	if len(q.Work) == 0 {
		return
	}
	first := &q.Work[0]
	if !first.Stuck && first.Seconds < longWork {
		return
	}
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "WorkerSlow", Part: q.ID, Name: q.Name, Key: first.Key, Since: first.Began}
	p.Text = fmt.Sprintf("key %s is worked on for long, and %s", first.Key, waiting(q.Waiting))
	if first.Stuck {
		p.Severity, p.Reason, p.Text = snapshot.Error, "WorkerStuck", fmt.Sprintf("a worker is stuck with key %s, and %s", first.Key, waiting(q.Waiting))
		if q.Stuck > 1 {
			p.Text = fmt.Sprintf("%d workers are stuck, for longest with key %s, and %s", q.Stuck, first.Key, waiting(q.Waiting))
		}
	}
	f.add(120, p)
}

// controller looks at a controller of another framework.
func (f *finding) controller(c *snapshot.Controller) {
	if c.LongestSeconds < longWork {
		return
	}
	f.add(119, snapshot.Problem{Severity: snapshot.Warning, Reason: "WorkerSlow", Part: c.ID, Name: c.Name,
		Since: f.now.Add(-time.Duration(c.LongestSeconds * float64(time.Second))),
		Text:  fmt.Sprintf("a reconcile takes long, and %s", waiting(c.Waiting))})
}

// waiting says how many keys wait.
func waiting(n int) string {
	if n == 1 {
		return "1 key waits"
	}
	return counted(n, "key") + " wait"
}

// expectations looks at what a controller expects.
func (f *finding) expectations(e *snapshot.Expectations) {
	if len(e.Pending) == 0 {
		return
	}
	first := &e.Pending[0]
	if first.Since.IsZero() || f.now.Sub(first.Since) < longSync {
		return
	}
	f.add(55, snapshot.Problem{Severity: snapshot.Warning, Reason: "WriteNotSeen", Part: e.ID, Name: e.Name, Key: first.Key, Since: first.Since,
		Text: fmt.Sprintf("key %s has not seen its own write come back", first.Key)})
}

// group looks at a member of a group.
func (f *finding) group(g *snapshot.Group) {
	p := snapshot.Problem{Part: g.ID, Name: g.Name, Detail: g.Error, Since: g.Renewed}
	switch {
	case !g.Valid:
		p.Severity, p.Reason, p.Text = snapshot.Error, "LeaseLost", "this member could not renew its Lease in time, and works on nothing"
		f.add(130, p)
	case g.Error != "":
		p.Severity, p.Reason, p.Text = snapshot.Warning, "LeaseFailing", "the last round of requests for Leases has failed"
		f.add(72, p)
	case g.Ranges == 0:
		p.Severity, p.Reason, p.Text = snapshot.Note, "NoRanges", "this member has no ranges, so works on nothing"
		f.add(10, p)
	}
}

// fleet looks at clusters.
func (f *finding) fleet(fl *snapshot.Fleet) {
	for n := range fl.Clusters {
		c := &fl.Clusters[n]
		p := snapshot.Problem{Severity: snapshot.Warning, Reason: "ClusterFailing", Part: fl.ID, Name: fl.Name, Detail: c.Error, Since: c.FailingSince}
		switch {
		case c.Phase == "Failed":
			p.Severity, p.Text = snapshot.Error, fmt.Sprintf("cluster %s has failed for good%s", c.Name, times(c.Failures))
		case c.Stale:
			p.Text = fmt.Sprintf("cluster %s fails%s: its %s are as they were", c.Name, times(c.Failures), objects(c.Objects))
		case c.Error != "":
			p.Text = fmt.Sprintf("cluster %s fails%s, and nothing of it can be read", c.Name, times(c.Failures))
		default:
			continue
		}
		f.add(95, p)
	}
}
