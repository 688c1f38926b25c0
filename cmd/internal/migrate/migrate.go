// Package migrate moves programs from client-go's informers to this project's: the
// imports of factories and the functions of handlers.
package migrate

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

// Analyzers are those of informerfix. Each reports what it can change, with a fix, and what
// stays, with the reason.
var Analyzers = []*analysis.Analyzer{factories, handlers}

const (
	adaptersPath = kube.Typed + "/adapters"
	typedPath    = kube.Typed + "/typed"
)

func analyzer(name, doc string, run func(*program)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: report.URL,
		Run: func(pass *analysis.Pass) (any, error) {
			if pass.Module == nil || pass.Module.Version == "" {
				run(&program{Pass: pass, sources: map[string][]byte{}})
			}
			return nil, nil
		},
	}
}

// program is a package that is changed.
type program struct {
	*analysis.Pass
	parents map[ast.Node]ast.Node
	uses    map[types.Object][]*ast.Ident
	sources map[string][]byte
}

// link computes the parents of nodes and the uses of objects, once they are needed.
func (p *program) link() {
	if p.parents != nil {
		return
	}
	p.parents, p.uses = map[ast.Node]ast.Node{}, map[types.Object][]*ast.Ident{}
	for _, file := range p.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			if len(stack) > 0 {
				p.parents[n] = stack[len(stack)-1]
			}
			return true
		})
	}
	for id, object := range p.TypesInfo.Uses {
		p.uses[origin(object)] = append(p.uses[origin(object)], id)
	}
	for _, ids := range p.uses {
		slices.SortFunc(ids, func(a, b *ast.Ident) int { return cmp.Compare(a.Pos(), b.Pos()) })
	}
}

// origin returns the object of which one of an instantiated type is made.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// stays says why something is not changed.
type stays struct {
	at  token.Pos
	why string
}

// changes reports what a fix changes.
func (p *program) changes(at ast.Node, message string, edits []analysis.TextEdit) {
	report.Report(p.Pass, analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Message: message,
		SuggestedFixes: []analysis.SuggestedFix{{Message: message, TextEdits: edits}},
	})
}

// leaves reports what stays.
func (p *program) leaves(at ast.Node, what string, s *stays) {
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: what + " stays: " + s.why}
	if s.at.IsValid() && (s.at < at.Pos() || at.End() < s.at) {
		d.Related = []analysis.RelatedInformation{{Pos: s.at, Message: "here"}}
	} else if s.at.IsValid() {
		d.Pos, d.End = s.at, token.NoPos
	}
	report.Report(p.Pass, d)
}

func (p *program) file(pos token.Pos) *ast.File { return report.FileOf(p.Pass, pos) }

// source returns the text of the file that a position is in, or nothing if it cannot be
// read or is not what was parsed.
func (p *program) source(pos token.Pos) []byte {
	file := p.Fset.File(pos)
	text, ok := p.sources[file.Name()]
	if !ok {
		text, _ = p.ReadFile(file.Name()) // without it, edits leave more blank lines
		if len(text) != file.Size() {
			text = nil
		}
		p.sources[file.Name()] = text
	}
	return text
}

func replace(start, end token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: start, End: end, NewText: []byte(text)}
}
