package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// function is a function of the module, wherever in its package it is.
type function struct {
	path       string // of its file
	src        string // of that file
	decl       *ast.FuncDecl
	start, end int // of the function in src; the end is after the line's
	name       int // where its name ends
	body       int // where its body begins, after the brace
}

// text returns the function as it is written.
func (f function) text() string { return f.src[f.start:f.end] }

// renamed returns a text of the function with a suffix to its name.
func (f function) renamed(text, suffix string) string {
	at := f.name - f.start
	return text[:at] + suffix + text[at:]
}

// functions are the functions of packages, by folder and name.
type functions struct {
	root  string
	known map[string]map[string][]function
}

func functionsOf(root string) *functions {
	return &functions{root, map[string]map[string][]function{}}
}

// find returns the one function of a name, see mutation.in.
func (fs *functions) find(name string) (function, error) {
	folder, short := splitName(name)
	inFolder, ok := fs.known[folder]
	if !ok {
		var err error
		if inFolder, err = parseFolder(filepath.Join(fs.root, filepath.FromSlash(folder))); err != nil {
			return function{}, fmt.Errorf("read package %s: %w", folder, err)
		}
		fs.known[folder] = inFolder
	}
	if found := inFolder[short]; len(found) != 1 {
		return function{}, fmt.Errorf("package %s has %d functions %s; it has to have one", folder, len(found), short)
	}
	return inFolder[short][0], nil
}

// splitName returns the folder in a name, see mutation.in, and the rest.
func splitName(name string) (folder, function string) {
	slash := strings.LastIndex(name, "/") + 1
	base, function, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + base, function
}

// parseFolder returns the functions of a package by name; tests are left out.
func parseFolder(folder string) (map[string][]function, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := map[string][]function{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if err := addFunctions(found, filepath.Join(folder, e.Name())); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// addFunctions adds the functions of a file.
func addFunctions(found map[string][]function, path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		end := min(offset(f.End())+1, len(src))
		name := nameOf(f)
		found[name] = append(found[name], function{
			path, string(src), f, offset(f.Pos()), end, offset(f.Name.End()), offset(f.Body.Lbrace) + 1,
		})
	}
	return nil
}

// nameOf returns the name of a function, after that of its receiver's type, if it has one.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch x := receiver.(type) {
		case *ast.StarExpr:
			receiver = x.X
		case *ast.IndexExpr:
			receiver = x.X
		case *ast.IndexListExpr:
			receiver = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}
