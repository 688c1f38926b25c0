package inspect

import (
	"bytes"
	"context"
	"net/http/httptest"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// Policy is the Content-Security-Policy of all answers.
var Policy = policy

// Style is the style sheet that is in every page.
var Style = style

// ProblemsOf returns what is wrong with the parts of a report.
func ProblemsOf(r *snapshot.Report) []snapshot.Problem { return problemsOf(r) }

// TotalsOf returns the sums over the parts of a report.
var TotalsOf = totalsOf

// ByCost puts informers that cost more first.
var ByCost = byCost

// VerdictsOf says what is to be known first of a key.
var VerdictsOf = verdictsOf

// PageOf returns the page of a report.
func PageOf(r *snapshot.Report, query, order string) string {
	return pageText(newPage(r, query, order))
}

// KeyPageOf returns the page of a key.
func KeyPageOf(title, key string, k *snapshot.Key) string {
	return pageText(newKeyPage(title, key, k))
}

func pageText(page *pageView) string {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", page); err != nil {
		panic(err)
	}
	return b.String()
}

// Updates returns a function that returns what an open page is sent next.
func Updates(i *Inspector) func() []byte {
	var last *frame
	return func() []byte {
		report := i.Report(context.Background())
		next := newFrame(&report, "", last)
		w := httptest.NewRecorder()
		if err := send(w, next.since(last, "")); err != nil {
			panic(err)
		}
		last = next
		return w.Body.Bytes()
	}
}
