package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

const (
	mib = 1 << 20

	manyEvents  = 1000             // in a backlog that is worth a look
	longSync    = 30 * time.Second // to wait for a first list without an error
	longSilence = 5 * time.Minute  // of a server that sends bookmarks every minute
	slowMean    = 0.1              // seconds that calls of the last minute take on average
	slowCall    = 10.0             // seconds that a call takes
	longWait    = 60.0             // seconds that a key waits in a queue
	longWork    = 60.0             // seconds that a reconcile takes
	fewFailures = 3                // of a key that are not worth a look
	nearBudget  = 0.8              // of a limit
	hogShare    = 0.3              // of all heap
	hogBytes    = 8 * mib          // below which no informer is a hog
	skewed      = 10_000           // objects under one key of an index
)

// finding collects problems of a report.
type finding struct {
	now       time.Time
	list      []ranked
	factories map[time.Time]bool // whose budgets were looked at, by since when they are nearly used
}

// ranked is a problem, and how bad it is among those of its severity.
type ranked struct {
	snapshot.Problem
	weight float64
}

// problemsOf returns what is wrong with the parts of a report, and more, the worst first.
func problemsOf(r *snapshot.Report, more ...snapshot.Problem) []snapshot.Problem {
	f := &finding{now: r.Time, factories: map[time.Time]bool{}}
	for n := range r.Informers {
		of := &r.Informers[n]
		f.phase(of)
		f.memory(of, len(r.Informers))
		f.rejections(of)
		f.followed(of)
		for h := range of.Handlers {
			f.handler(of, &of.Handlers[h])
		}
		f.indexes(of)
	}
	each(r.Queues, f.queue)
	each(r.Expectations, f.expectations)
	each(r.Groups, f.group)
	each(r.Fleets, f.fleet)
	each(r.Controllers, f.controller)
	for _, p := range more {
		f.add(40, p)
	}
	slices.SortStableFunc(f.list, func(a, b ranked) int {
		return cmp.Or(
			cmp.Compare(rankOf(a.Severity), rankOf(b.Severity)),
			cmp.Compare(b.weight, a.weight))
	})
	problems := make([]snapshot.Problem, len(f.list))
	for n := range f.list {
		problems[n] = f.list[n].Problem
	}
	return problems
}

// severities are in the order of problems, the worst first.
var severities = []snapshot.Severity{snapshot.Error, snapshot.Warning, snapshot.Note}

// rankOf returns the place of a severity among them. One that is not known is a Note.
func rankOf(s snapshot.Severity) int {
	if n := slices.Index(severities, s); n >= 0 {
		return n
	}
	return len(severities) - 1
}

// add adds a problem. Among those of one severity, that of more weight comes first.
func (f *finding) add(weight float64, p snapshot.Problem) {
	f.list = append(f.list, ranked{p, weight})
}

// phase checks whether an informer is synced, and still hears from its source.
func (f *finding) phase(of *snapshot.Informer) {
	p := snapshot.Problem{Part: of.ID, Name: of.Name, Detail: of.Error, Since: of.FailingSince}
	switch {
	case of.Phase == "New":
		p.Severity, p.Reason, p.Text = snapshot.Note, "NotStarted", "Run was not called yet"
		f.add(0, p)
	case of.Phase == "Stopped":
		p.Severity, p.Reason, p.Text = snapshot.Warning, "Stopped", "it has stopped; reads find what there was then"
		if of.Error != "" {
			p.Severity, p.Text = snapshot.Error, "it has stopped with an error; reads find what there was then"
		}
		f.add(50, p)
	case of.Error != "":
		f.failing(of, p)
	case of.Phase == "Syncing":
		p.Severity, p.Reason, p.Text = snapshot.Note, "NotSynced", "not synced: "+progress(of.Received, of.Expected)
		if !of.LastContact.IsZero() && f.now.Sub(of.LastContact) > longSync {
			p.Severity, p.Since = snapshot.Warning, of.LastContact
		}
		f.add(60, p)
	case isServed(of) && !of.LastContact.IsZero() && f.now.Sub(of.LastContact) > longSilence:
		p.Severity, p.Reason, p.Text, p.Since = snapshot.Warning, "Silent", "nothing was heard of its source", of.LastContact
		f.add(70, p)
	}
}

// isServed reports whether the objects are an API server's, which sends bookmarks while
// nothing changes. Views and sets of a program's own are silent then.
func isServed(of *snapshot.Informer) bool { return of.Kind != "" || of.Resource != "" }

// failing looks at an informer that fails to list or watch.
func (f *finding) failing(of *snapshot.Informer, p snapshot.Problem) {
	if of.Forbidden && of.Followed != nil && of.Followed.Refused > 0 {
		return // see followed
	}
	p.Severity, p.Reason, p.Text = snapshot.Error, "Failing", "list or watch fails"
	if of.Forbidden {
		p.Reason, p.Text = "Forbidden", "the API server denies it the right to list or watch"
	}
	if of.Phase == "Syncing" {
		p.Text = "not synced, so nothing can be read: " + p.Text
	} else {
		p.Text += ", and what is read gets old"
	}
	if of.Failures > 1 {
		p.Text += ", " + counted(of.Failures, "failure")
	}
	f.add(100+min(49, f.now.Sub(of.FailingSince).Minutes()), p)
}

// progress says how far a list is.
func progress(received, expected int) string {
	switch {
	case received == 0:
		return "it waits for the first list"
	case expected == 0:
		return fmt.Sprintf("the first list has brought %s so far", objects(received))
	default:
		return fmt.Sprintf("the first list has brought %s of %s", grouped(int64(received)), objects(expected))
	}
}

// memory looks at what the objects of an informer take.
func (f *finding) memory(of *snapshot.Informer, informers int) {
	f.budget(of, of.Budget, "uses %s of its budget: %s")
	if b := of.FactoryBudget; b != nil && !f.factories[b.Since] { // which is that of others, too
		f.factories[b.Since] = true
		f.budget(of, b, "it and the others of its factory use %s of their budget: %s")
	}
	if h := of.Heap; h != nil && informers > 1 && h.Share >= hogShare && h.Bytes >= hogBytes {
		p := snapshot.Problem{Severity: snapshot.Note, Reason: "HeapLarge", Part: of.ID, Name: of.Name}
		p.Text = fmt.Sprintf("its objects hold %s of heap, %s of what those of all informers hold; there are %s",
			bytesText(h.Bytes), percent(h.Share), grouped(int64(h.Objects)))
		if h.Share >= 0.5 && h.Bytes >= 8*hogBytes {
			p.Severity = snapshot.Warning
		}
		f.add(30+h.Share, p)
	}
}

// budget looks at the usage of a budget, which may be nil.
func (f *finding) budget(of *snapshot.Informer, b *snapshot.Budget, text string) {
	if b == nil || b.Used < nearBudget {
		return
	}
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "BudgetNear", Part: of.ID, Name: of.Name, Since: b.Since}
	p.Text = fmt.Sprintf(text, percent(b.Used), budgetText(b))
	if b.Used >= 1 {
		p.Severity, p.Reason = snapshot.Error, "BudgetExceeded"
	}
	f.add(40+min(b.Used, 10), p)
}

// budgetText returns the usage of a budget.
func budgetText(b *snapshot.Budget) string {
	text := ""
	if b.Objects > 0 {
		text = fmt.Sprintf("%s of %s", grouped(b.Kept), objects(int(b.Objects)))
	}
	if b.Bytes > 0 {
		if text != "" {
			text += ", "
		}
		text += bytesText(b.HeapBytes) + " of " + bytesText(b.Bytes)
	}
	return text
}

// rejections looks at objects that could not be used.
func (f *finding) rejections(of *snapshot.Informer) {
	if of.RejectedNow == 0 {
		return
	}
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "Rejected", Part: of.ID, Name: of.Name}
	p.Text = fmt.Sprintf("%s could not be used; reads find an earlier state, or nothing", objects(of.RejectedNow))
	if len(of.RejectedObjects) > 0 {
		last := of.RejectedObjects[0]
		p.Key, p.Detail = last.Key, last.Error
	}
	f.add(45, p)
}

// handler looks at a handler.
func (f *finding) handler(of *snapshot.Informer, h *snapshot.Handler) {
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "HandlerSlow", Part: of.ID, Name: of.Name}
	switch {
	case h.Stuck:
		p.Severity, p.Reason, p.Text = snapshot.Error, "HandlerStuck", fmt.Sprintf("handler %s is stuck%s", h.Name, backlogText(h))
		if h.Current != nil {
			p.Text = fmt.Sprintf("handler %s is stuck in one call, for %s%s", h.Name, h.Current.Key, backlogText(h))
			p.Key, p.Since = h.Current.Key, h.Current.Began
		}
		f.add(150, p)
	case h.Current != nil && h.Current.Seconds >= slowCall:
		p.Text = fmt.Sprintf("handler %s has not returned for %s%s", h.Name, h.Current.Key, backlogText(h))
		p.Key, p.Since = h.Current.Key, h.Current.Began
		f.add(90, p)
	case h.Growth > 0 && h.Backlog >= manyEvents/10:
		p.Reason = "HandlerBehind"
		p.Text = fmt.Sprintf("handler %s is behind by %s events, and by %s more each second%s",
			h.Name, grouped(int64(h.Backlog)), grouped(int64(h.Growth+0.99)), meanText(h))
		f.add(80+min(9, float64(h.Backlog)/10_000), p)
	case h.Backlog >= manyEvents:
		p.Reason = "HandlerBehind"
		p.Text = fmt.Sprintf("handler %s is behind by %s events%s", h.Name, grouped(int64(h.Backlog)), meanText(h))
		f.add(75, p)
	case isSlow(h):
		p.Text = fmt.Sprintf("handler %s is slow%s", h.Name, meanText(h))
		if h.Slowest != nil {
			p.Key = h.Slowest.Key
		}
		f.add(65, p)
	}
	if h.Panics > 0 {
		f.add(85, snapshot.Problem{Severity: snapshot.Warning, Reason: "HandlerPanicked", Part: of.ID, Name: of.Name, Detail: h.LastPanic,
			Text: fmt.Sprintf("handler %s has panicked%s, last %s", h.Name, times(h.Panics), ago(f.now, h.LastPanicAt))})
	}
}

// isSlow reports whether calls of a handler take long.
func isSlow(h *snapshot.Handler) bool {
	switch {
	case h.Times == nil:
		return false
	case h.Times.Recent != nil:
		return h.Times.Recent.Calls >= 3 && h.Times.Recent.MeanSeconds >= slowMean
	}
	return h.Times.Calls >= 3 && h.Times.MeanSeconds >= slowMean
}

// backlogText says how many more events wait for a handler.
func backlogText(h *snapshot.Handler) string {
	if h.Backlog <= 1 {
		return ""
	}
	return fmt.Sprintf(", and %s events wait", grouped(int64(h.Backlog-1)))
}

// meanText says how long calls take.
func meanText(h *snapshot.Handler) string {
	if h.Times == nil || h.Times.Calls == 0 {
		return ""
	}
	if recent := h.Times.Recent; recent != nil && recent.Calls > 0 {
		return ": a call takes " + secondsText(recent.MeanSeconds) + " on average, at most " + secondsText(recent.MaxSeconds)
	}
	return ": a call takes " + secondsText(h.Times.MeanSeconds) + " on average"
}

// indexes looks at keys of indexes under which too much is found.
func (f *finding) indexes(of *snapshot.Informer) {
	for _, index := range of.Indexes {
		if index.Keys > 1 && index.Largest >= skewed && index.Largest > of.Objects/2 {
			f.add(5, snapshot.Problem{Severity: snapshot.Note, Reason: "IndexSkewed", Part: of.ID, Name: of.Name,
				Text: fmt.Sprintf("index %s has %s of %s under one key, which makes look-ups of it long",
					index.Name, grouped(int64(index.Largest)), objects(of.Objects))})
		}
	}
}

// followed looks at names that cannot be followed.
func (f *finding) followed(of *snapshot.Informer) {
	names := of.Followed
	if names == nil || names.Refused+names.Unheld == 0 {
		return
	}
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "NamesNotFollowed", Part: of.ID, Name: of.Name}
	p.Text = fmt.Sprintf("some names are not followed: %s refused by the API server, %s not held; there are %s in all",
		grouped(int64(names.Refused)), grouped(int64(names.Unheld)), counted(names.Held+names.Idle+names.Unheld, "name"))
	if len(names.Unfollowed) > 0 {
		first := names.Unfollowed[0]
		p.Key, p.Detail, p.Since = first.Key, first.Error, first.Since
	}
	f.add(55, p)
}
