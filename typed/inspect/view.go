package inspect

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// flag is a problem of a part in a word or two, shown next to its name.
type flag struct {
	Severity snapshot.Severity
	Text     string
}

// flagTexts are the words for the reasons of problems.
var flagTexts = map[string]string{
	"Silent": "silent", "Rejected": "rejected objects", "HeapLarge": "much heap", "BudgetNear": "near its budget",
	"BudgetExceeded": "over its budget", "IndexSkewed": "skewed index",
	"HandlerStuck": "stuck handler", "HandlerSlow": "slow handler", "HandlerBehind": "handler behind", "HandlerPanicked": "panics",
	"KeyFailing": "failing keys", "QueueWaiting": "long wait", "WorkerStuck": "stuck worker", "WorkerSlow": "slow worker",
	"WriteNotSeen": "write not seen", "LeaseLost": "Lease lost", "LeaseFailing": "requests fail", "NoRanges": "no ranges",
	"ClusterFailing": "failing clusters", "CachedTwice": "cached twice",
}

// flagsOf returns the flags of all parts, each flag once.
func flagsOf(problems []snapshot.Problem) map[string][]flag {
	flags := map[string][]flag{}
	for n := range problems {
		p := &problems[n]
		text := flagTexts[p.Reason]
		if text == "" || slices.ContainsFunc(flags[p.Part], func(f flag) bool { return f.Text == text }) {
			continue
		}
		flags[p.Part] = append(flags[p.Part], flag{p.Severity, text})
	}
	return flags
}

// state is the phase of an informer, and whether it fails, in a word.
type state struct{ Class, Icon, Text string }

func stateOf(of *snapshot.Informer) state {
	switch {
	case of.Phase == "Stopped":
		return state{"warning", "■", "Stopped"}
	case of.Forbidden:
		return state{"error", "✕", "Forbidden"}
	case of.Error != "":
		return state{"error", "✕", "Failing"}
	case of.Phase == "New":
		return state{"note", "○", "Not started"}
	case of.Phase == "Syncing":
		return state{"note", "◌", "Syncing"}
	default:
		return state{"good", "✓", of.Phase}
	}
}

// informerView is an informer as its template needs it.
type informerView struct {
	*snapshot.Informer
	Now    time.Time
	Flags  []flag
	State  state
	Hidden bool
	Short  string // the name without what all have in common
	Text   string // by which it is filtered
}

func newInformerView(of *snapshot.Informer, flags []flag, now time.Time) *informerView {
	v := &informerView{Informer: of, Now: now, Flags: flags, State: stateOf(of)}
	text := []string{of.Name, of.Kind, of.APIVersion, of.Resource, of.Namespace, of.Selection, of.Host, v.State.Text}
	if of.Created != nil {
		text = append(text, of.Created.Short)
	}
	for _, f := range flags {
		text = append(text, f.Text)
	}
	for n := range of.Handlers {
		text = append(text, of.Handlers[n].Name)
	}
	v.Text = strings.ToLower(strings.Join(text, " "))
	return v
}

// looksLike reports whether the informer is shown as it was in another view, which may be
// nil.
func (v *informerView) looksLike(other *informerView) bool {
	if other == nil || v.Hidden != other.Hidden || v.Short != other.Short ||
		!slices.Equal(v.Flags, other.Flags) || !slices.Equal(v.ages(), other.ages()) {
		return false
	}
	a, b := *v.Informer, *other.Informer
	if a.Heap != nil && b.Heap != nil { // when it was estimated is not shown
		heap := *b.Heap
		heap.At = a.Heap.At
		b.Heap = &heap
	}
	return reflect.DeepEqual(a, b)
}

// ages returns what the page says of times.
func (v *informerView) ages() []string {
	said := []string{ago(v.Now, v.LastEvent), ago(v.Now, v.LastContact), since(v.Now, v.WatchSince), since(v.Now, v.FailingSince)}
	for n := range v.Handlers {
		h := &v.Handlers[n]
		said = append(said, ago(v.Now, h.LastPanicAt))
		if h.Slowest != nil {
			said = append(said, ago(v.Now, h.Slowest.Began))
		}
	}
	if v.Followed != nil {
		for n := range v.Followed.Unfollowed {
			said = append(said, since(v.Now, v.Followed.Unfollowed[n].Since))
		}
	}
	return said
}

// matches reports whether the informer has all words of a query.
func (v *informerView) matches(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(v.Text, word) {
			return false
		}
	}
	return true
}

// Known reports whether it is known what the objects are.
func (v *informerView) Known() bool { return v.Kind != "" || v.Resource != "" || v.Selection != "" }

// Timed reports whether the calls of a handler are timed.
func (v *informerView) Timed() bool {
	return slices.ContainsFunc(v.Handlers, func(h snapshot.Handler) bool { return h.Times != nil })
}

// Backlog is how many events its handlers have not returned from.
func (v *informerView) Backlog() int { return backlog(v.Informer) }

// CallSeconds is the time that calls of all handlers took.
func (v *informerView) CallSeconds() float64 { return callSeconds(v.Informer) }

// Listing says how far a list is, "" if none is in progress.
func (v *informerView) Listing() string {
	if v.Phase != "Syncing" {
		return ""
	}
	return progress(v.Received, v.Expected)
}

// BudgetText returns the usage of the budget.
func (v *informerView) BudgetText() string { return budgetText(v.Budget) }

// FactoryBudgetText returns the usage of the budget of its factory.
func (v *informerView) FactoryBudgetText() string { return budgetText(v.FactoryBudget) }

// HeldBy names the lines that use a factory's informer, each once.
func (v *informerView) HeldBy() string {
	uses := map[string]int{}
	var lines []string
	for _, holder := range v.Holders {
		if uses[holder.Short]++; uses[holder.Short] == 1 {
			lines = append(lines, holder.Short)
		}
	}
	for n, line := range lines {
		if uses[line] > 1 {
			lines[n] = fmt.Sprintf("%s (%d times)", line, uses[line])
		}
	}
	return strings.Join(lines, ", ")
}

// handlerView is a handler as its template needs it.
type handlerView struct {
	*snapshot.Handler
	Class   string
	Flag    *flag
	Growing string
}

// HandlerViews returns the handlers, the one that costs most first.
func (v *informerView) HandlerViews() []handlerView {
	views := make([]handlerView, len(v.Handlers))
	for n := range v.Handlers {
		h := &v.Handlers[n]
		views[n].Handler = h
		if h.Growth > 0 {
			views[n].Growing = grouped(int64(h.Growth + 0.99))
		}
		switch {
		case h.Stuck:
			views[n].Class, views[n].Flag = "error", &flag{snapshot.Error, "stuck"}
		case h.Backlog >= manyEvents || h.Growth > 0 && h.Backlog >= manyEvents/10:
			views[n].Class, views[n].Flag = "warning", &flag{snapshot.Warning, "behind"}
		case isSlow(h):
			views[n].Class, views[n].Flag = "warning", &flag{snapshot.Warning, "slow"}
		}
	}
	slices.SortStableFunc(views, func(a, b handlerView) int {
		return cmp.Or(cmp.Compare(b.Backlog, a.Backlog), cmp.Compare(sumSeconds(b.Handler), sumSeconds(a.Handler)))
	})
	return views
}

func sumSeconds(h *snapshot.Handler) float64 {
	if h.Times == nil {
		return 0
	}
	return h.Times.SumSeconds
}

// Parts of other sorts, as their templates need them.
type (
	queueView struct {
		*snapshot.Queue
		Now   time.Time
		Flags []flag
	}
	expectationsView struct {
		*snapshot.Expectations
		Now   time.Time
		Flags []flag
	}
	groupView struct {
		*snapshot.Group
		Now   time.Time
		Flags []flag
	}
	controllerView struct {
		*snapshot.Controller
		Flags []flag
	}
	fleetView struct {
		*snapshot.Fleet
		Now   time.Time
		Flags []flag
	}
)

// HasPriorities reports whether keys wait at a priority other than 0.
func (v queueView) HasPriorities() bool {
	return slices.ContainsFunc(v.Priorities, func(p snapshot.Priority) bool { return p.Priority != 0 })
}

// MemberCount is how many members the group has.
func (v groupView) MemberCount() int { return len(v.Members) }

// MemberList names the members, up to ten.
func (v groupView) MemberList() string {
	const some = 10
	if len(v.Members) > some {
		return strings.Join(v.Members[:some], ", ") + " and others"
	}
	return strings.Join(v.Members, ", ")
}

// rendered executes a template.
func rendered(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return template.HTML(`<p class="error">` + template.HTMLEscapeString(err.Error()) + `</p>`)
	}
	return template.HTML(b.String())
}
