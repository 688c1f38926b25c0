package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// variable is the environment variable that has the number of the bug that a program is
// to have.
const variable = "MUTANT"

// selector is the file that passes the number to the code of a package.
const selector = `package %s

import (
	mutantRand "math/rand"
	"os"
	mutantRuntime "runtime"
)

var mutantNumber = os.Getenv("` + variable + `")
` + yielder

// copies returns the text of a file in which each of some bugs is in a copy of the
// function that it is about. The function calls the copy if the program is to have that
// bug.
func copies(bugs []numbered) (text string, err error) {
	heads := map[int]string{} // by the offset of a body: what it begins with
	var tails strings.Builder
	for _, b := range bugs {
		suffix := "mutant" + strconv.Itoa(b.number)
		call, err := callOf(b.of.decl, suffix)
		if err != nil {
			return "", fmt.Errorf("mutation %q: %w", b.bug, err)
		}
		heads[b.of.body] += fmt.Sprintf(" if mutantNumber == \"%d\" { %s }; ", b.number, call)
		changed, err := b.apply(b.of)
		if err != nil {
			return "", err
		}
		tails.WriteString("\n" + b.of.renamed(changed, suffix))
	}
	return insert(bugs[0].of.src, heads) + tails.String(), nil
}

// numbered is a mutation with its number, from 1, and the function that it is about.
type numbered struct {
	mutation
	number int
	of     function
}

// locate finds the functions of bugs, by file, in the order of the bugs. Its error names
// all bugs that cannot be put in.
func locate(root string, bugs []mutation) (map[string][]numbered, error) {
	known := functionsOf(root)
	byFile := map[string][]numbered{}
	var errs []error
	for i, m := range bugs {
		f, err := known.find(m.in)
		if err != nil {
			errs = append(errs, fmt.Errorf("mutation %q: %w", m.bug, err))
			continue
		}
		if _, err := m.apply(f); err != nil {
			errs = append(errs, err)
			continue
		}
		byFile[f.path] = append(byFile[f.path], numbered{m, i + 1, f})
	}
	return byFile, errors.Join(errs...)
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

// overlay returns the files that go build reads instead of files of the tree, by path: those
// with bugs in them, those that yield, and a selector in each of their folders.
func overlay(root string, bugs []mutation) (map[string]string, error) {
	byFile, err := locate(root, bugs)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for path, bugs := range byFile {
		if files[path], err = copies(bugs); err != nil {
			return nil, err
		}
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
