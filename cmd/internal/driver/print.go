package driver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"os"
	"strings"

	"github.com/kubetyped/informer/cmd/internal/load"
)

// printPlain prints a finding as go vet does, with lines around it if context is not
// negative.
func printPlain(f load.Finding, context int, w io.Writer) {
	one := func(pos, end token.Pos, message string) {
		at := f.Set.Position(pos)
		fmt.Fprintf(w, "%s: %s\n", at, message)
		if context < 0 {
			return
		}
		last := f.Set.Position(cmp.Or(end, pos)).Line + context
		text, err := os.ReadFile(at.Filename)
		if err != nil {
			return // the position says enough
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := i + 1; at.Line-context <= n && n <= last {
				fmt.Fprintf(w, "%d\t%s\n", n, line)
			}
		}
	}
	one(f.Pos, f.End, f.Message)
	for _, r := range f.Related {
		one(r.Pos, r.End, "\t"+r.Message)
	}
}

// The JSON of go vet: packages, then analyzers, then these.
type jsonFinding struct {
	Category string        `json:"category,omitempty"`
	Posn     string        `json:"posn"`
	End      string        `json:"end"`
	Message  string        `json:"message"`
	Fixes    []jsonFix     `json:"suggested_fixes,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
}

type jsonFix struct {
	Message string     `json:"message"`
	Edits   []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	Filename string `json:"filename"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	New      string `json:"new"`
}

type jsonRelated struct {
	Posn    string `json:"posn"`
	End     string `json:"end"`
	Message string `json:"message"`
}

func printJSON(found []load.Finding, w io.Writer) error {
	tree := map[string]map[string][]jsonFinding{}
	for _, f := range found {
		if tree[f.Package] == nil {
			tree[f.Package] = map[string][]jsonFinding{}
		}
		at := func(pos token.Pos) string { return f.Set.Position(pos).String() }
		out := jsonFinding{Category: f.Category, Posn: at(f.Pos), End: at(cmp.Or(f.End, f.Pos)), Message: f.Message}
		for _, fix := range f.SuggestedFixes {
			edits := jsonFix{Message: fix.Message}
			for _, e := range fix.TextEdits {
				start, end := span(f.Set, e)
				edits.Edits = append(edits.Edits, jsonEdit{start.Filename, start.Offset, end.Offset, string(e.NewText)})
			}
			out.Fixes = append(out.Fixes, edits)
		}
		for _, r := range f.Related {
			out.Related = append(out.Related, jsonRelated{at(r.Pos), at(cmp.Or(r.End, r.Pos)), r.Message})
		}
		tree[f.Package][f.Analyzer] = append(tree[f.Package][f.Analyzer], out)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "\t")
	return encoder.Encode(tree)
}
