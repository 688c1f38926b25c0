package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// variable is the environment variable that has the number of the bug that a program is
// to have.
const variable = "MUTANT"

// selector is the file that tells the number to the code of a package.
const selector = `package %s

import (
	mutantRand "math/rand"
	"os"
	mutantRuntime "runtime"
)

var mutantNumber = os.Getenv("` + variable + `")
` + yielder

// copies returns the text of a file in which each of some bugs, by number, is in a copy
// of the function that it is about. The function calls the copy if the program is to
// have that bug.
func copies(path string, bugs map[int]mutation) (text string, err error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	heads := map[int]string{} // by the offset of a body: what it begins with
	var tails bytes.Buffer
	for _, number := range slices.Sorted(maps.Keys(bugs)) {
		m := bugs[number]
		at := strings.Index(string(src), m.old)
		f := functionAt(file, func(n ast.Node) bool { return offset(n.Pos()) <= at && at+len(m.old) <= offset(n.End())+1 })
		if f == nil {
			return "", fmt.Errorf("mutation %q: what it replaces is in no function, or in several", m.bug)
		}
		call, err := callOf(f, "mutant"+strconv.Itoa(number))
		if err != nil {
			return "", fmt.Errorf("mutation %q: %w", m.bug, err)
		}
		heads[offset(f.Body.Lbrace)+1] += fmt.Sprintf(" if mutantNumber == \"%d\" { %s }; ", number, call)
		whole := string(src[offset(f.Pos()):offset(f.Name.End())]) + "mutant" + strconv.Itoa(number) +
			string(src[offset(f.Name.End()):offset(f.End())])
		tails.WriteString("\n" + strings.Replace(whole+"\n", m.old, m.new, 1))
	}
	return insert(string(src), heads) + tails.String(), nil
}

// functionAt returns the function that contains something.
func functionAt(file *ast.File, contains func(ast.Node) bool) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && contains(f) {
			return f
		}
	}
	return nil
}

// callOf returns the statements that call a copy of a function, whose name has a suffix,
// in its place.
func callOf(f *ast.FuncDecl, suffix string) (string, error) {
	name := f.Name.Name + suffix
	if f.Recv != nil {
		if len(f.Recv.List[0].Names) == 0 {
			return "", fmt.Errorf("the receiver of %s has no name", f.Name.Name)
		}
		name = f.Recv.List[0].Names[0].Name + "." + name
	}
	if types := namesOf(f.Type.TypeParams); len(types) > 0 {
		name += "[" + strings.Join(types, ", ") + "]"
	}
	args := namesOf(f.Type.Params)
	if len(args) != f.Type.Params.NumFields() || slices.Contains(args, "_") {
		return "", fmt.Errorf("a parameter of %s has no name", f.Name.Name)
	}
	if n := len(f.Type.Params.List); n > 0 {
		if _, variadic := f.Type.Params.List[n-1].Type.(*ast.Ellipsis); variadic {
			args[len(args)-1] += "..."
		}
	}
	call := name + "(" + strings.Join(args, ", ") + ")"
	if f.Type.Results.NumFields() > 0 {
		return "return " + call, nil
	}
	return call + "; return", nil
}

// namesOf returns the names of parameters.
func namesOf(fields *ast.FieldList) (names []string) {
	if fields == nil {
		return nil
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// overlay returns what go build is to read in the place of files of the tree, by path:
// those with bugs in them, those that yield, and a selector in each of their folders.
func overlay(root string, bugs []mutation) (map[string]string, error) {
	byFile := map[string]map[int]mutation{}
	for i, m := range bugs {
		if _, err := m.apply(root); err != nil {
			return nil, err
		}
		if byFile[m.file] == nil {
			byFile[m.file] = map[int]mutation{}
		}
		byFile[m.file][i+1] = m
	}
	files := map[string]string{}
	for file, bugs := range byFile {
		path := filepath.Join(root, filepath.FromSlash(file))
		text, err := copies(path, bugs)
		if err != nil {
			return nil, err
		}
		files[path] = text
	}
	if err := addYields(root, files); err != nil {
		return nil, err
	}
	for _, path := range slices.Collect(maps.Keys(files)) {
		folder := filepath.Dir(path)
		file, err := parser.ParseFile(token.NewFileSet(), path, files[path], parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		files[filepath.Join(folder, "mutantnumber.go")] = fmt.Sprintf(selector, file.Name.Name)
	}
	return files, nil
}
