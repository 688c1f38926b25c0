package walls_test

import (
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMemoryGivenBackPage holds docs/reference/memory-given-back.md to the tests: each row names one
// that there is, and each that calls waves.GivesBack is in a row.
func TestMemoryGivenBackPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "memory-given-back.md"))
	require.NoError(t, err)
	var documented, all, givesBack []string
	for _, match := range regexp.MustCompile("(?m)^\\|.*\\| `([a-z]+\\.Test\\w+)` \\|$").FindAllSubmatch(page, -1) {
		documented = append(documented, string(match[1]))
	}
	for file, code := range goFiles(t, parser.SkipObjectResolution) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, decl := range code.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := strings.TrimSuffix(code.Name.Name, "_test") + "." + f.Name.Name
			all = append(all, name)
			if callsGivesBack(f) {
				givesBack = append(givesBack, name)
			}
		}
	}
	require.NotEmpty(t, documented)
	assert.Subset(t, all, documented)
	assert.Subset(t, documented, givesBack)
}

func callsGivesBack(f *ast.FuncDecl) (calls bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "GivesBack" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "waves" {
				calls = true
			}
		}
		return true
	})
	return calls
}
