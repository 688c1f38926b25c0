package walls_test

import (
	"go/ast"
	"go/parser"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mostNames is how many names a package may export: types, functions, constants and
// variables, with methods and fields left out.
const mostNames = 50

// larger are the packages that export more, with their numbers, which may fall alone.
var larger = map[string]int{"index": 56, "typed/kube": 54}

// TestExportedNames counts the exported names of each package that programs import.
func TestExportedNames(t *testing.T) {
	count := map[string]int{}
	for path, file := range goFiles(t, parser.SkipObjectResolution) {
		if isForUsers(path) {
			count[filepath.ToSlash(filepath.Dir(path))] += exportedNames(file)
		}
	}
	assert.NotEmpty(t, count)
	for name, n := range count {
		most, isLarger := larger[name]
		if !isLarger {
			assert.LessOrEqual(t, n, mostNames, "package %s exports too many names", name)
			continue
		}
		assert.Equal(t, most, n, "package %s: write a lower number into this test, and no higher one", name)
	}
}

// exportedNames returns how many names a file exports.
func exportedNames(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				n += exportedOfSpec(spec)
			}
		}
	}
	return n
}

func exportedOfSpec(spec ast.Spec) (n int) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			n++
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				n++
			}
		}
	}
	return n
}
