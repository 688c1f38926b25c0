// Package report reports the findings of analyzers, except those that a comment
// in the code ignores.
package report

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// URL is the page about all analyzers.
const URL = "https://github.com/kubetyped/informer/blob/main/docs/informervet.md"

// Tests is set to report findings in tests, and in packages for tests, too.
var Tests bool

const directive = "//informervet:ignore"

// Report reports a finding, unless it stands in a generated file, in a test, or on the
// line of a comment //informervet:ignore with a reason, or the line after.
func Report(pass *analysis.Pass, d analysis.Diagnostic) {
	at := pass.Fset.Position(d.Pos)
	if isTest(pass, at.Filename) && !Tests {
		return
	}
	file := FileOf(pass, d.Pos)
	if file == nil || ast.IsGenerated(file) {
		return
	}
	if found, reason := ignored(pass.Fset, file, at.Line); found {
		if reason != "" {
			return
		}
		d.Message += "; " + directive + " needs a reason after it"
	}
	pass.Report(d)
}

// isTest reports whether a file is a test's, or of a package that is there for tests.
func isTest(pass *analysis.Pass, name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return true
	}
	for part := range strings.SplitSeq(pass.Pkg.Path(), "/") {
		switch part {
		case "test", "tests", "testing", "testutil", "testutils", "fake", "fakes", "e2e":
			return true
		}
	}
	return false
}

// FileOf returns the file that a position is in, or nil.
func FileOf(pass *analysis.Pass, pos token.Pos) *ast.File {
	i := slices.IndexFunc(pass.Files, func(f *ast.File) bool { return f.FileStart <= pos && pos < f.FileEnd })
	if i < 0 {
		return nil
	}
	return pass.Files[i]
}

// ignored returns whether a line has the directive, or the line before, and its reason.
func ignored(set *token.FileSet, file *ast.File, line int) (found bool, reason string) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, directive)
			if at := set.Position(c.Pos()).Line; !ok || at != line && at != line-1 {
				continue
			}
			reason, _, _ = strings.Cut(rest, "// want")
			return true, strings.TrimSpace(reason)
		}
	}
	return false, ""
}
