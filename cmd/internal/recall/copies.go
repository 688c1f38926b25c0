package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// deepCopy is a call of DeepCopy, and its file without it.
type deepCopy struct {
	pkg  *packages.Package
	file string
	at   string
	text []byte
}

// copiesOf returns the copies of a package, outside of generated files.
func copiesOf(p *packages.Package) (all []deepCopy) {
	for _, file := range p.Syntax {
		if ast.IsGenerated(file) {
			continue
		}
		name := p.Fset.Position(file.FileStart).Filename
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "recall:", err)
			continue
		}
		for n := range ast.Preorder(file) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				continue
			}
			if without, ok := removed(p, call, text); ok {
				all = append(all, deepCopy{p, name, p.Fset.Position(call.Pos()).String(), without})
			}
		}
	}
	return all
}

// removed returns the text of a file without a copy: of a value, its address stays.
func removed(p *packages.Package, call *ast.CallExpr, text []byte) ([]byte, bool) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "DeepCopy" || len(call.Args) > 0 {
		return nil, false
	}
	start, dot, end := p.Fset.Position(call.Pos()).Offset, p.Fset.Position(selector.X.End()).Offset, p.Fset.Position(call.End()).Offset
	expr := string(text[start:dot])
	from, to := p.TypesInfo.TypeOf(selector.X), p.TypesInfo.TypeOf(call)
	if pointer, ok := to.(*types.Pointer); ok && !types.Identical(from, to) && types.Identical(from, pointer.Elem()) {
		expr = "(&" + expr + ")"
	}
	// Positions of lines stay.
	expr += strings.Repeat("\n", strings.Count(string(text[dot:end]), "\n"))
	return slices.Concat(text[:start], []byte(expr), text[end:]), true
}
