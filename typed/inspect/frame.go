package inspect

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// frame is a report as pages show it: one piece of HTML for each part, by its ID.
type frame struct {
	report *snapshot.Report
	pieces map[string]template.HTML
	texts  map[string]*informerView
}

// shownProblems is how many problems are shown before others are folded away.
const shownProblems = 12

// newFrame renders the parts of a report. The informers that do not match the query are
// hidden. What looks as it did in an earlier frame, nil for none, is taken from that.
func newFrame(r *snapshot.Report, query string, earlier *frame) *frame {
	f := &frame{report: r, pieces: make(map[string]template.HTML, len(r.Informers)+16), texts: make(map[string]*informerView, len(r.Informers))}
	flags, names := flagsOf(r.Problems), namesOf(r)
	f.pieces["problems"] = rendered("problems", newProblemsView(r))
	f.pieces["totals"] = rendered("totals", totalsView{r.Totals, len(r.Queues) > 0, r.Deduplication})
	for n := range r.Informers {
		v := newInformerView(&r.Informers[n], flags[r.Informers[n].ID], r.Time)
		v.Short, v.Hidden = names.short(v.Name), !v.matches(query)
		f.texts[v.ID] = v
		if earlier != nil && v.looksLike(earlier.texts[v.ID]) {
			f.pieces[v.ID] = earlier.pieces[v.ID]
		} else {
			f.pieces[v.ID] = rendered("informer", v)
		}
	}
	each(r.Queues, func(q *snapshot.Queue) { f.pieces[q.ID] = rendered("queue", queueView{q, r.Time, flags[q.ID]}) })
	each(r.Expectations, func(e *snapshot.Expectations) {
		f.pieces[e.ID] = rendered("expectations", expectationsView{e, r.Time, flags[e.ID]})
	})
	each(r.Groups, func(g *snapshot.Group) { f.pieces[g.ID] = rendered("group", groupView{g, r.Time, flags[g.ID]}) })
	each(r.Fleets, func(fl *snapshot.Fleet) { f.pieces[fl.ID] = rendered("fleet", fleetView{fl, r.Time, flags[fl.ID]}) })
	each(r.Writes, func(w *snapshot.Writes) { f.pieces[w.ID] = rendered("writes", w) })
	each(r.Controllers, func(c *snapshot.Controller) { f.pieces[c.ID] = rendered("controller", controllerView{c, flags[c.ID]}) })
	return f
}

// each calls f with each part of a report.
func each[P any](parts []P, f func(*P)) {
	for n := range parts {
		f(&parts[n])
	}
}

// problemsView is what is wrong, as its template needs it.
type problemsView struct {
	Problems, More []snapshot.Problem
	Class, Verdict string
	Now            time.Time
	names          names
}

func newProblemsView(r *snapshot.Report) *problemsView {
	v := &problemsView{Problems: r.Problems, Now: r.Time, names: namesOf(r), Class: "good", Verdict: "✓ Nothing that the page knows of."}
	count := map[snapshot.Severity]int{}
	for n := range r.Problems {
		count[r.Problems[n].Severity]++
	}
	var said []string
	for _, severity := range severities {
		if n := count[severity]; n > 0 {
			said = append(said, counted(n, strings.ToLower(words[severity])))
		}
	}
	if len(said) > 0 {
		v.Class, v.Verdict = string(r.Problems[0].Severity), strings.Join(said, ", ")
	}
	if len(v.Problems) > shownProblems {
		v.Problems, v.More = r.Problems[:shownProblems], r.Problems[shownProblems:]
	}
	return v
}

// One is one of the problems, as its template needs it.
func (v *problemsView) One(p snapshot.Problem) problemView {
	p.Name = v.names.short(p.Name)
	return problemView{p, v.Now}
}

// problemView is a problem, as its template needs it.
type problemView struct {
	snapshot.Problem
	Now time.Time
}

// MoreText says how many problems are folded away.
func (v *problemsView) MoreText() string { return counted(len(v.More), "more problem") }

// totalsView is the totals, as their template needs them.
type totalsView struct {
	snapshot.Totals
	HasQueues     bool
	Deduplication *snapshot.Deduplication
}

// orders are the orders that informers can have, in addition to that of their cost.
var orders = map[string]func(a, b *informerView) int{
	"name":    func(a, b *informerView) int { return cmp.Compare(a.Name, b.Name) },
	"state":   func(a, b *informerView) int { return cmp.Compare(stateRank(a), stateRank(b)) },
	"objects": func(a, b *informerView) int { return cmp.Compare(b.Objects, a.Objects) },
	"backlog": func(a, b *informerView) int { return cmp.Compare(backlog(b.Informer), backlog(a.Informer)) },
	"time":    func(a, b *informerView) int { return cmp.Compare(callSeconds(b.Informer), callSeconds(a.Informer)) },
	"event":   func(a, b *informerView) int { return b.LastEvent.Compare(a.LastEvent) },
}

// stateRank returns the place of an informer's state, the worst first; those with flags come
// before others.
func stateRank(v *informerView) int {
	rank := map[string]int{"error": 0, "warning": 2, "note": 4, "good": 6}[v.State.Class]
	if len(v.Flags) > 0 {
		rank = min(rank, 2*rankOf(v.Flags[0].Severity)+1)
	}
	return rank
}

// informerIDs returns the IDs of the informers in an order, that of cost if it is unknown.
func (f *frame) informerIDs(order string) []string {
	views := make([]*informerView, len(f.report.Informers))
	for n := range f.report.Informers {
		views[n] = f.texts[f.report.Informers[n].ID]
	}
	if compare := orders[order]; compare != nil {
		slices.SortStableFunc(views, compare)
	}
	ids := make([]string, len(views))
	for n, v := range views {
		ids[n] = v.ID
	}
	return ids
}

// section is the parts of one sort.
type section struct {
	ID    string   `json:"id"`
	Parts []string `json:"parts"`
	Title string   `json:"-"`
}

// sections returns the sections below the informers. The page hides those without parts, since
// parts may come while it is open.
func (f *frame) sections() []section {
	r := f.report
	return []section{
		{"controllers", idsOf(r.Controllers, func(p *snapshot.Controller) string { return p.ID }), "Controllers"},
		{"queues", idsOf(r.Queues, func(p *snapshot.Queue) string { return p.ID }), "Queues"},
		{"expectations", idsOf(r.Expectations, func(p *snapshot.Expectations) string { return p.ID }), "Expectations"},
		{"groups", idsOf(r.Groups, func(p *snapshot.Group) string { return p.ID }), "Shards"},
		{"fleets", idsOf(r.Fleets, func(p *snapshot.Fleet) string { return p.ID }), "Clusters"},
		{"writes", idsOf(r.Writes, func(p *snapshot.Writes) string { return p.ID }), "Own writes"},
	}
}

func idsOf[P any](parts []P, id func(*P) string) []string {
	ids := []string{}
	each(parts, func(p *P) { ids = append(ids, id(p)) })
	return ids
}

// update is the message to an open page: the pieces that have changed, and the parts of each
// section in their order.
type update struct {
	Title string                   `json:"title"`
	Clock string                   `json:"clock"`
	Lists []section                `json:"lists"`
	HTML  map[string]template.HTML `json:"html"`
}

// since returns the update from an earlier frame, nil for none.
func (f *frame) since(earlier *frame, order string) *update {
	u := &update{
		Title: pageTitle(f.report), Clock: f.report.Time.UTC().Format("15:04:05 UTC"),
		Lists: append([]section{{ID: "informers", Parts: f.informerIDs(order)}}, f.sections()...),
		HTML:  map[string]template.HTML{},
	}
	for id, piece := range f.pieces {
		if earlier == nil || earlier.pieces[id] != piece {
			u.HTML[id] = piece
		}
	}
	return u
}

// pageTitle returns the title of the page, with the number of errors and warnings.
func pageTitle(r *snapshot.Report) string {
	bad := 0
	for n := range r.Problems {
		if r.Problems[n].Severity != snapshot.Note {
			bad++
		}
	}
	if bad > 0 {
		return "(" + grouped(int64(bad)) + ") " + r.Title
	}
	return r.Title
}

// names shortens the names of informers that are all of one API server, which is in each.
type names struct{ end string }

// namesOf returns the names of a report's informers.
func namesOf(r *snapshot.Report) names {
	host := ""
	for n := range r.Informers {
		switch h := r.Informers[n].Host; {
		case h == "":
		case host == "":
			host = h
		case h != host:
			return names{}
		}
	}
	if host == "" {
		return names{}
	}
	return names{" at " + host}
}

// short returns a name without what all have in common.
func (n names) short(name string) string {
	if short := strings.TrimSuffix(name, n.end); short != "" {
		return short
	}
	return name
}
