package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checker computes the types of packages of the main module from their syntax.
type checker struct {
	// Overlay contains texts of files, which are checked instead of those on disk.
	Overlay map[string][]byte

	source   bool // other modules are checked from their source, too
	set      *token.FileSet
	exports  map[string]export // by the paths of packages
	external types.Importer
}

// export is what the go command says of a package: the file of its export data, or why
// there is none.
type export struct{ file, reason string }

func newChecker(exports map[string]export) *checker {
	c := &checker{set: token.NewFileSet(), exports: exports}
	c.external = importer.ForCompiler(c.set, "gc", c.open)
	return c
}

func (c *checker) open(path string) (io.ReadCloser, error) {
	of := c.exports[path]
	if of.file == "" {
		return nil, fmt.Errorf("package %s does not compile: %s", path, of.reason)
	}
	return os.Open(of.file)
}

// exportsOf runs the go command to compile packages, and returns their files of export
// data. Those that do not compile have none.
func exportsOf(ctx context.Context, c Config, paths map[string]bool) (map[string]export, error) {
	delete(paths, "unsafe")
	delete(paths, "C")
	if len(paths) == 0 {
		return nil, nil
	}
	args := slices.Concat([]string{"list", "-e", "-export", "-f", "{{.ImportPath}}\t{{.Export}}\t{{with .Error}}{{printf `%q` .Err}}{{end}}"}, c.Flags, []string{"--"})
	out, err := GoCommand(ctx, c.Dir, append(args, slices.Sorted(maps.Keys(paths))...)...)
	if err != nil {
		return nil, fmt.Errorf("the go command cannot compile what the packages import: %w", err)
	}
	exports := map[string]export{}
	for line := range strings.Lines(out) {
		path, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		file, reason, _ := strings.Cut(rest, "\t")
		exports[path] = export{file, reason}
	}
	return exports, nil
}

// GoCommand runs the go command in a folder, and returns its output. The error has its messages.
func GoCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// ErrImports is the error of packages that import others that do not compile.
var ErrImports = errors.New("imports do not compile")

// Check parses a package and computes its types, after those of packages that it imports.
// The error is ErrImports, or the first thing that does not compile.
func (c *checker) Check(p *packages.Package) error {
	if len(p.Errors) > 0 {
		return brokenBy(p)
	}
	for _, imported := range p.Imports {
		if isMain(imported) && imported.Types == nil {
			return ErrImports
		}
	}
	p.Fset = c.set
	for _, name := range p.CompiledGoFiles {
		var source any
		if text, ok := c.Overlay[name]; ok {
			source = text
		}
		file, err := parser.ParseFile(c.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.Syntax = append(p.Syntax, file)
	}
	p.TypesInfo = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	config := &types.Config{Importer: imports{c, p}, Sizes: p.TypesSizes}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	pkg, err := config.Check(p.PkgPath, c.set, p.Syntax, p.TypesInfo)
	if err != nil {
		return err
	}
	p.Types = pkg
	return nil
}

// imports imports what one package imports.
type imports struct {
	*checker
	of *packages.Package
}

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := i.of.Imports[path]
	switch {
	case p == nil:
		return nil, fmt.Errorf("package %s is not found", path)
	case !isMain(p) && i.source:
		return i.fromSource(p), nil
	case !isMain(p):
		return i.external.Import(p.PkgPath)
	}
	return p.Types, nil
}

// Forget frees the syntax of a package that has been analysed.
func (c *checker) Forget(p *packages.Package) { p.Syntax, p.TypesInfo = nil, nil }

// fromSource returns the types of a package of another module by its syntax, without the
// bodies of its functions. What does not check is left out.
func (c *checker) fromSource(p *packages.Package) *types.Package {
	if p.Types != nil {
		return p.Types
	}
	var files []*ast.File
	for _, name := range p.CompiledGoFiles {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if file, _ := parser.ParseFile(c.set, name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	config := &types.Config{
		Importer: imports{c, p}, Sizes: p.TypesSizes,
		IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {},
	}
	p.Types, _ = config.Check(p.PkgPath, c.set, files, nil)
	return p.Types
}
