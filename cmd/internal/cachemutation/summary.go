package cachemutation

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// A Summary is what callers have to know of a function. A function that writes to nothing
// of its callers, and returns nothing of theirs or of a cache, has none. Parameters are
// counted from the receiver on, and captured variables of closures follow them.
type Summary struct {
	Writes  []Write  `json:",omitempty"`
	Results []Result `json:",omitempty"`
	Calls   []Call   `json:",omitempty"`
}

// A Write is one to memory that a parameter leads to.
type Write struct {
	Param int
	Path  string
	Given string `json:",omitempty"` // which constants parameters equal then
	Steps []Step `json:",omitempty"` // from the function itself down to the write

	pos token.Pos // of the write, or the call that leads to it; in closures, of theirs
}

// A Step is one call on the way to a write, or the write.
type Step struct {
	Text string
	pos  token.Pos
}

// A Result is a part of a result that is memory of a parameter or a cache.
type Result struct {
	Index     int
	Cell      bool   `json:",omitempty"` // a part of new memory at Path; otherwise the result itself
	Path      string `json:",omitempty"`
	Reference bool   `json:",omitempty"` // of parts: they refer to the memory, instead of being copies of it
	Param     int    // -1 for a cache
	From      string `json:",omitempty"` // the path from the parameter
	Cache     string `json:",omitempty"` // the read, for messages
	Store     bool   `json:",omitempty"` // the cache may hold anything
	Sequence  bool   `json:",omitempty"` // a function that yields objects of the cache
	Own       bool   `json:",omitempty"` // of parts: neither of a parameter nor of a cache, unlike the copy that they are in
	Given     string `json:",omitempty"` // as of Write
	Flags     string `json:",omitempty"` // which flags other results are then
}

// A Call is one of a function that is a parameter, with memory of another parameter or
// of a cache.
type Call struct {
	Func  int
	Arg   int
	Param int
	From  string `json:",omitempty"`
	Cache string `json:",omitempty"`
}

// AFact marks Summary as a fact.
func (*Summary) AFact() {}

// analysed is the fact that a package was analysed: functions of it without a summary write to
// nothing.
type analysed struct{}

// AFact marks analysed as a fact.
func (*analysed) AFact() {}

// String lists writes and results, for tests.
func (s *Summary) String() string {
	var parts []string
	for _, w := range s.Writes {
		parts = append(parts, fmt.Sprintf("writes %d:%s", w.Param, w.Path))
	}
	for _, r := range s.Results {
		from := fmt.Sprintf("%d:%s", r.Param, r.From)
		switch {
		case r.Own:
			from = "itself"
		case r.Param < 0:
			from = r.Cache
		}
		parts = append(parts, fmt.Sprintf("returns %d:%s from %s %s", r.Index, r.Path, from, r.Flags))
	}
	for _, c := range s.Calls {
		parts = append(parts, fmt.Sprintf("calls %d", c.Func))
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ", ")
}

func (s *Summary) empty() bool {
	return s == nil || len(s.Writes)+len(s.Results)+len(s.Calls) == 0
}

const mostRows = 48 // of each kind in a summary

func (s *Summary) addWrite(w Write) {
	same := func(have Write) bool {
		return have.Param == w.Param && have.Path == w.Path && (have.Given == w.Given || have.Given == "")
	}
	if len(s.Writes) < mostRows && !slices.ContainsFunc(s.Writes, same) {
		s.Writes = append(s.Writes, w)
	}
}

func (s *Summary) addResult(r Result) {
	if len(s.Results) < mostRows && !slices.Contains(s.Results, r) {
		s.Results = append(s.Results, r)
	}
}

func (s *Summary) addCall(c Call) {
	if len(s.Calls) < mostRows && !slices.Contains(s.Calls, c) {
		s.Calls = append(s.Calls, c)
	}
}

// sort puts rows in an order that does not depend on that of maps.
func (s *Summary) sort() {
	slices.SortFunc(s.Results, func(a, b Result) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.SortFunc(s.Calls, func(a, b Call) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.SortStableFunc(s.Writes, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Param, b.Param), cmp.Compare(a.Path, b.Path))
	})
}

// same reports whether two summaries say the same, whatever the way to writes.
func (s *Summary) same(other *Summary) bool { return s.String() == other.String() }

// common returns what holds of all implementations of a method: writes that all make, and
// results that any returns.
func common(all []*Summary) *Summary {
	out := &Summary{}
	for _, w := range all[0].Writes {
		if !slices.ContainsFunc(all[1:], func(s *Summary) bool {
			return !slices.ContainsFunc(s.Writes, func(have Write) bool { return have.Param == w.Param && have.Path == w.Path })
		}) {
			out.addWrite(w)
		}
	}
	for _, r := range all[0].Results {
		r.Flags = "" // they may differ in it
		if !slices.ContainsFunc(all[1:], func(s *Summary) bool {
			return !slices.ContainsFunc(s.Results, func(have Result) bool {
				have.Cache, have.Flags = r.Cache, ""
				return have == r
			})
		}) {
			out.addResult(r)
		}
	}
	return out
}
