package cachemutation

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/report"
)

// finding is a write to an object of a cache.
type finding struct {
	root  *root
	path  string
	pos   token.Pos
	steps []Step
}

// found keeps a finding. Of several at a position, the first one stays.
func (p *program) found(f finding) {
	if _, ok := p.findings[f.pos]; !ok {
		p.findings[f.pos] = f
	}
}

// report reports the findings by their positions.
func (p *program) report() {
	var before []fixed
	for _, f := range slices.SortedFunc(maps.Values(p.findings), func(a, b finding) int { return cmp.Compare(a.pos, b.pos) }) {
		d := analysis.Diagnostic{Pos: f.pos, Message: p.message(f)}
		if f.root.pos.IsValid() {
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: f.root.pos, Message: "the object comes from " + f.root.from})
		}
		for _, s := range f.steps {
			pos := s.pos
			if !pos.IsValid() {
				pos = f.pos
			}
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: pos, Message: s.Text})
		}
		fixes, done := p.fix(f, before)
		if d.SuggestedFixes = fixes; len(fixes) > 0 {
			before = append(before, done)
		}
		report.Report(p.pass, d)
	}
}

func (p *program) message(f finding) string {
	what := "an object"
	if path := shown(f.path); path != "" {
		what = path[1:] + " of an object"
		if path[0] != '.' {
			what = "an element of an object"
		}
	}
	from := f.root.from
	if f.root.pos.IsValid() {
		from = fmt.Sprintf("%s (line %d)", from, p.pass.Fset.Position(f.root.pos).Line)
	}
	how := ""
	if len(f.steps) > 1 {
		how = " in a function that is called here"
	}
	return fmt.Sprintf("%s of a cache, %s, is written to%s: modify a copy made with DeepCopy", what, from, how)
}
