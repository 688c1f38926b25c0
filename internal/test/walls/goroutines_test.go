package walls_test

import (
	"go/ast"
	"go/parser"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGoroutinesPage holds the table of docs/reference/panics.md to the code: each function that
// starts a goroutine, or has one called by a timer or a context, is there, and no other.
func TestGoroutinesPage(t *testing.T) {
	var started []string
	for file, code := range goFiles(t, parser.SkipObjectResolution) {
		if slashed := filepath.ToSlash(file); !isForUsers(slashed) {
			continue
		}
		for _, declaration := range code.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && startsGoroutine(function) {
				started = append(started, path.Dir(filepath.ToSlash(file))+": "+nameOf(function))
			}
		}
	}
	slices.Sort(started)
	documented := firstCells(t, "docs/reference/panics.md", "function")
	slices.Sort(documented)
	assert.Equal(t, strings.Join(slices.Compact(started), "\n"), strings.Join(documented, "\n"))
}

// isForUsers reports whether programs of users run the code of a file.
func isForUsers(file string) bool {
	for _, room := range []string{"examples", "benchmarks", "e2e", "tools", "internal/test", "internal/test/mutants", "internal/test/conformance", "internal/test/simulated", "internal/test/rig", "adapters/ctrlruntime/internal/referring"} {
		if strings.HasPrefix(file, room+"/") {
			return false
		}
	}
	return !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/examples/") && !strings.Contains(file, "/testdata/")
}

// startsGoroutine reports whether a function has a go statement, or calls a method Go or
// a function AfterFunc of whatever it may be, or one that the runtime calls back.
func startsGoroutine(function *ast.FuncDecl) bool {
	found := false
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok {
				found = found || slices.Contains([]string{"Go", "AfterFunc", "AddCleanup", "SetFinalizer"}, called.Sel.Name)
			}
		}
		return !found
	})
	return found
}

// firstCells returns the code in the first cells of a table of a page, whose header begins
// with a word.
func firstCells(t *testing.T, page, header string) (cells []string) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n| "+header+" |")
	require.True(t, found, "a table whose first column is %s", header)
	_, table, _ = strings.Cut(table, "\n")
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ = strings.Cut(cell, "`")
			cells = append(cells, cell)
		}
	}
	return cells
}
