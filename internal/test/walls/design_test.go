package walls_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the folder of the module.
var root = filepath.Join("..", "..", "..")

// explanation returns a page of docs/explanation.
func explanation(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join(root, "docs", "explanation", name))
	require.NoError(t, err)
	return string(text)
}

// TestImportsRunDownThePage checks that packages import only those below them in the list
// of docs/explanation/design.md.
func TestImportsRunDownThePage(t *testing.T) {
	_, list, found := strings.Cut(explanation(t, "design.md"), "## Packages\n\n```\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "```")
	var rooms []string // from the top of the list
	for line := range strings.Lines(list) {
		room := strings.TrimSuffix(strings.Fields(line)[0], "/")
		assert.DirExists(t, filepath.Join(root, room))
		rooms = append(rooms, room)
	}
	// place returns where the room of a folder stands in the list.
	place := func(folder string) int {
		best := -1
		for i, room := range rooms {
			if strings.HasPrefix(folder+"/", room+"/") && (best < 0 || len(room) > len(rooms[best])) {
				best = i
			}
		}
		return best
	}
	for file, code := range goFiles(t, parser.ImportsOnly) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		from := place(filepath.ToSlash(filepath.Dir(file)))
		if !assert.GreaterOrEqual(t, from, 0, "%s is in no room of the list", file) {
			continue
		}
		for _, spec := range code.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if folder, ours := strings.CutPrefix(imported, module); ours {
				to := place(folder)
				assert.GreaterOrEqual(t, to, from, "%s imports %s, which stands above it", file, folder)
			}
		}
	}
}

// TestNestedModulesImportNothingInternal: programs may combine a nested module with a later version
// of the root module, whose internal packages may differ.
func TestNestedModulesImportNothingInternal(t *testing.T) {
	nested, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
	require.NoError(t, err)
	require.NotEmpty(t, nested)
	files := goFiles(t, parser.ImportsOnly)
	for _, mod := range nested {
		room, err := filepath.Rel(root, filepath.Dir(mod))
		require.NoError(t, err)
		for file, code := range files {
			within, inside := strings.CutPrefix(filepath.ToSlash(file), filepath.ToSlash(room)+"/")
			if !inside || strings.HasPrefix(within, "internal/") || strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, spec := range code.Imports {
				assert.NotContains(t, spec.Path.Value, module+"internal/", file)
			}
		}
	}
}

// TestDesignNamesExistingRooms looks for the files, functions and tests that design.md and
// guarantees.md name.
func TestDesignNamesExistingRooms(t *testing.T) {
	page := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(explanation(t, "design.md")+explanation(t, "guarantees.md"), "")
	declared := map[string][]string{} // by file
	var tests []string
	for file, code := range goFiles(t, parser.SkipObjectResolution) {
		for _, decl := range code.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			declared[filepath.ToSlash(file)] = append(declared[filepath.ToSlash(file)], nameOf(f))
			if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests = append(tests, f.Name.Name)
			}
		}
	}
	row := regexp.MustCompile("(?m)^\\| \\d+ \\| `([^`]+\\.go)` \\| ([^|]+) \\|")
	code := regexp.MustCompile("`([^`\n]+)`")
	walk := row.FindAllStringSubmatch(page, -1)
	require.Greater(t, len(walk), 10)
	for _, step := range walk {
		for _, function := range code.FindAllStringSubmatch(step[2], -1) {
			assert.Contains(t, declared[step[1]], function[1], step[1])
		}
	}
	for _, quoted := range code.FindAllStringSubmatch(page, -1) {
		if name := quoted[1]; strings.HasSuffix(name, ".go") && strings.Contains(name, "/") {
			matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
			require.NoError(t, err)
			assert.NotEmpty(t, matches, name)
		} else if regexp.MustCompile(`^Test[A-Z]\w*$`).MatchString(name) {
			assert.Contains(t, tests, name)
		}
	}
}

// nameOf returns the name of a function, with that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	for {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.IndexListExpr:
			of = e.X
		case *ast.Ident:
			return e.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// goFiles returns all Go files, by their paths from the root.
func goFiles(t *testing.T, mode parser.Mode) map[string]*ast.File {
	files := map[string]*ast.File{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[file], err = parser.ParseFile(token.NewFileSet(), path, nil, mode)
		return err
	}))
	return files
}
