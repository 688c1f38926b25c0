package main

import (
	_ "embed"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/vet"
)

//go:embed verdicts.txt
var listed string

var rewrite = flag.Bool("rewrite", false, "write the table of the docs")

const docs = "../../../docs/informervet.md"

// TestVerdicts checks the list: nine in ten findings have to be true.
func TestVerdicts(t *testing.T) {
	projects, verdicts, err := parse(listed)
	if err != nil {
		t.Fatal(err)
	}
	if len(projects) < 8 {
		t.Errorf("%d projects were checked, want 8 or more", len(projects))
	}
	for _, v := range verdicts {
		known := slices.ContainsFunc(vet.Analyzers, func(a *analysis.Analyzer) bool { return a.Name == v.analyzer })
		if !known || len(v.why) < 10 {
			t.Errorf("%s %s: no analyzer has the name %s, or the reason is too short: %q", v.project, v.at, v.analyzer, v.why)
		}
	}
	for name, of := range map[string]func(verdict) bool{
		mutation: func(v verdict) bool { return v.analyzer == mutation },
		"rules":  func(v verdict) bool { return v.analyzer != mutation },
	} {
		if s := count(verdicts, of); 10*s.right < 9*s.all {
			t.Errorf("%s: %s findings are true, want nine in ten", name, s)
		}
	}
}

// TestTable compares the table of the docs with the list.
func TestTable(t *testing.T) {
	projects, verdicts, err := parse(listed)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- made by cmd/internal/precision -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(page), begin)
	made, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no block %q", docs, begin)
	}
	want := table(projects, verdicts)
	if made == want {
		return
	}
	if !*rewrite {
		t.Fatalf("the table of %s is not that of the list: run this test with -rewrite\n%s", docs, want)
	}
	if err := os.WriteFile(docs, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestParse names the line that is wrong.
func TestParse(t *testing.T) {
	if _, _, err := parse("project\ta 1\t./...\t3\t2 s\na.go:1\tcachemutation\tperhaps\tit may be\n"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a verdict that is neither true nor false: %v", err)
	}
}
