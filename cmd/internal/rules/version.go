package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	gopath "path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

var versionText = rule("versiontext", `find resource versions that are compared as text, or parsed

As text, "9" is greater than "10". That resource versions are numbers is known to
resourceversion.CompareResourceVersion of apimachinery alone, which also says when they
are none. Equality may be tested.

Wrong:

	if updated.ResourceVersion > old.ResourceVersion {

Right:

	newer, err := resourceversion.CompareResourceVersion(updated.ResourceVersion, old.ResourceVersion)`, func(c *checker) {
	const instead = ": use resourceversion.CompareResourceVersion of k8s.io/apimachinery/pkg/util"
	eachFile(c, func(e *ast.BinaryExpr) {
		if isComparison(e.Op) && (c.isVersion(e.X) && !c.isEmpty(e.Y) || c.isVersion(e.Y) && !c.isEmpty(e.X)) {
			report.Report(c.Pass, analysis.Diagnostic{
				Pos: e.Pos(), End: e.End(), SuggestedFixes: c.compared(e), Message: "resource versions are compared as text" + instead,
			})
		}
	})
	eachFile(c, func(call *ast.CallExpr) {
		f := c.called(call)
		if f == nil || len(call.Args) == 0 || !c.isVersion(call.Args[0]) {
			return
		}
		switch {
		case kube.IsFunc(f, "strconv", "ParseInt", "ParseUint", "Atoi"):
			c.report(call, "a resource version is parsed"+instead)
		case kube.IsFunc(f, "strings", "Compare"), kube.IsFunc(f, "cmp", "Compare", "Less"):
			c.report(call, "resource versions are compared as text"+instead)
		}
	})
})

// compared returns a fix of a comparison that is the condition of a branch without else:
// one that cannot be made is not true.
func (c *checker) compared(e *ast.BinaryExpr) (fixes []analysis.SuggestedFix) {
	const path = "k8s.io/apimachinery/pkg/util/resourceversion"
	file := report.FileOf(c.Pass, e.Pos())
	enclosing, _ := astutil.PathEnclosingInterval(file, e.Pos(), e.End())
	name, edits := imported(file, path)
	for _, n := range enclosing {
		s, ok := n.(*ast.IfStmt)
		if !ok || s.Cond != ast.Expr(e) || s.Init != nil || s.Else != nil || name == "" || c.named(s, "order", "err", name) {
			continue
		}
		edits = append(edits,
			analysis.TextEdit{Pos: e.Pos(), End: e.X.Pos(), NewText: []byte("order, err := " + name + ".CompareResourceVersion(")},
			analysis.TextEdit{Pos: e.X.End(), End: e.Y.Pos(), NewText: []byte(", ")},
			analysis.TextEdit{Pos: e.Y.End(), End: e.End(), NewText: []byte("); err == nil && order " + e.Op.String() + " 0")})
		return []analysis.SuggestedFix{{Message: "compare them as versions", TextEdits: edits}}
	}
	return nil
}

// imported returns the name of a package in a file, and the edit that imports it, if it is
// not imported.
func imported(file *ast.File, path string) (name string, edits []analysis.TextEdit) {
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(path):
		case spec.Name == nil:
			return gopath.Base(path), nil
		case spec.Name.Name != "_" && spec.Name.Name != ".":
			return spec.Name.Name, nil
		}
	}
	if len(file.Imports) == 0 {
		return "", nil
	}
	first := file.Imports[0]
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT || d.End() < first.End() {
			continue
		}
		text, at := strconv.Quote(path)+"\n", first.Pos()
		for _, spec := range file.Imports {
			if strings.HasPrefix(spec.Path.Value, "\"k8s.io/apimachinery/") && d.Pos() < spec.Pos() && spec.End() <= d.End() {
				at = spec.Pos()
			}
		}
		if !d.Lparen.IsValid() {
			text, at = "import "+text, d.Pos()
		}
		return gopath.Base(path), []analysis.TextEdit{{Pos: at, End: at, NewText: []byte(text)}}
	}
	return "", nil
}

// named reports whether a tree has one of the names, except for the last one's selections.
func (c *checker) named(root ast.Node, names ...string) bool {
	found := false
	each(root, func(id *ast.Ident) {
		_, isPackage := c.TypesInfo.Uses[id].(*types.PkgName)
		found = found || slices.Contains(names, id.Name) && !isPackage
	})
	return found
}

// isEmpty reports whether an expression is the text "", which only shows if others are empty.
func (c *checker) isEmpty(e ast.Expr) bool {
	v := c.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.String && constant.StringVal(v) == ""
}

// isVersion reports whether an expression is the resource version of an object, as text.
func (c *checker) isVersion(e ast.Expr) bool {
	if t := c.TypesInfo.TypeOf(e); t == nil || !types.Identical(t, types.Typ[types.String]) {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		field := c.TypesInfo.Uses[e.Sel]
		if field == nil || e.Sel.Name != "ResourceVersion" || field.Pkg() == nil {
			return false
		}
		return kube.PackagePath(field.Pkg()) == kube.Meta
	case *ast.CallExpr:
		f := c.called(e)
		return f != nil && f.Name() == "GetResourceVersion" && f.Signature().Recv() != nil
	}
	return false
}
