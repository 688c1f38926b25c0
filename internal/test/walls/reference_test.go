package walls_test

import (
	"go/ast"
	"go/parser"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorsPage compares docs/reference/errors.md with the exported errors of the packages
// that users import.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "errors.md"))
	require.NoError(t, err)
	var documented, declared []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, row[1])
	}
	for file, code := range goFiles(t, parser.SkipObjectResolution) {
		file = filepath.ToSlash(file)
		if !isForUsers(file) || strings.Contains("/"+file, "/internal/") || code.Name.Name == "main" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, name := range errorsOf(code) {
			declared = append(declared, strings.Replace(name, "ERR", path.Base(path.Dir(file))+".", 1))
		}
	}
	slices.Sort(documented)
	slices.Sort(declared)
	assert.Equal(t, strings.Join(declared, "\n"), strings.Join(documented, "\n"))
}

// errorsOf returns the exported errors that a file declares: "ERRErrX" for a variable, and
// "*ERRXError" for a type.
func errorsOf(file *ast.File) (names []string) {
	variable, typ := regexp.MustCompile(`^Err[A-Z]`), regexp.MustCompile(`^[A-Z]\w*Error$`)
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if variable.MatchString(name.Name) {
						names = append(names, "ERR"+name.Name)
					}
				}
			case *ast.TypeSpec:
				if typ.MatchString(s.Name.Name) {
					names = append(names, "*ERR"+s.Name.Name)
				}
			}
		}
	}
	return names
}

// TestPackagesPage looks for each package that users import in docs/reference/packages.md.
func TestPackagesPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "packages.md"))
	require.NoError(t, err)
	for name := range links {
		assert.Contains(t, string(page), "`"+name+"`")
	}
}
