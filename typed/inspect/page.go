package inspect

import (
	"cmp"
	"html/template"
	"net/url"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// pageView is a page, as its template needs it.
type pageView struct {
	Page             string // "all" or "key"
	Title, PageTitle string
	Now              time.Time
	Home, JSON       string // links
	Key, Query, Sort string // that were asked for
	Matches          string
	Sorts            []sortLink
	InformerIDs      []string
	Sections         []section
	KeyView          *keyView
	frame            *frame
}

// sortLink is a link to the page in another order.
type sortLink struct {
	Name, Text, Link string
	Column           string // the column that it sorts by
	Current          bool
}

// keyView is what is known of a key, as its template needs it.
type keyView struct {
	*snapshot.Key
	Name string
	Now  time.Time
}

// Fragment returns the piece of a part.
func (v *pageView) Fragment(id string) template.HTML { return v.frame.pieces[id] }

// newPage returns the page of a report.
func newPage(r *snapshot.Report, query, order string) *pageView {
	if orders[order] == nil {
		order = "cost"
	}
	f := newFrame(r, query, nil)
	v := &pageView{
		Page: "all", Title: r.Title, PageTitle: pageTitle(r), Now: r.Time,
		Home: "?", JSON: "?format=json", Query: query, Sort: order,
		InformerIDs: f.informerIDs(order), Sections: f.sections(), frame: f,
	}
	for _, sort := range []sortLink{
		{Name: "name", Text: "Informer"}, {Name: "state", Text: "State"}, {Name: "objects", Text: "Objects"}, {Name: "cost", Text: "Heap", Column: "heap"},
		{Name: "backlog", Text: "Backlog"}, {Name: "time", Text: "In calls"}, {Name: "event", Text: "Last event"},
	} {
		sort.Column = cmp.Or(sort.Column, sort.Name)
		sort.Link, sort.Current = pageLink(query, sort.Name), sort.Name == order
		v.Sorts = append(v.Sorts, sort)
	}
	if query != "" {
		shown := 0
		for _, informer := range f.texts {
			if !informer.Hidden {
				shown++
			}
		}
		v.Matches = grouped(int64(shown)) + " of " + grouped(int64(len(f.texts)))
	}
	return v
}

// pageLink returns a link to the page with a query and an order.
func pageLink(query, order string) string {
	values := url.Values{}
	if query != "" {
		values.Set("q", query)
	}
	if order != "cost" {
		values.Set("sort", order)
	}
	return "?" + values.Encode()
}

// newKeyPage returns the page of a key.
func newKeyPage(title, text string, k *snapshot.Key) *pageView {
	return &pageView{
		Page: "key", Title: title, PageTitle: text + " – " + title, Now: k.Time, Key: text,
		Home: "?", JSON: "?" + url.Values{"key": {text}, "format": {"json"}}.Encode(),
		KeyView: &keyView{k, text, k.Time},
	}
}
