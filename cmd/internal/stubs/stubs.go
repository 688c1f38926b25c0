// Package stubs checks programs of tests against the stubs in testdata.
package stubs

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// Importer imports the stubs, and packages of the standard library for them.
type Importer struct {
	Set   *token.FileSet
	dir   string
	known map[string]*types.Package
}

// New returns an importer of the stubs in a folder.
func New(dir string) *Importer {
	return &Importer{Set: token.NewFileSet(), dir: dir, known: map[string]*types.Package{}}
}

// Import implements types.Importer.
func (i *Importer) Import(path string) (*types.Package, error) {
	if i.known[path] != nil {
		return i.known[path], nil
	}
	parsed, err := parser.ParseDir(i.Set, filepath.Join(i.dir, "src", path), nil, parser.SkipObjectResolution) //lint:ignore SA1019 the stubs have no build tags
	if err != nil {
		i.known[path], err = importer.ForCompiler(i.Set, "source", nil).Import(path)
		return i.known[path], err
	}
	var files []*ast.File
	for _, p := range parsed {
		for _, f := range p.Files {
			files = append(files, f)
		}
	}
	i.known[path], err = (&types.Config{Importer: i}).Check(path, i.Set, files, nil)
	return i.known[path], err
}

// Check parses a package of one file, and computes its types.
func (i *Importer) Check(name, source string) (*packages.Package, error) {
	file, err := parser.ParseFile(i.Set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	pkg, err := (&types.Config{Importer: i}).Check("program", i.Set, []*ast.File{file}, info)
	if err != nil {
		return nil, err
	}
	return &packages.Package{ID: "program", PkgPath: "program", Fset: i.Set, Syntax: []*ast.File{file}, Types: pkg, TypesInfo: info}, nil
}
