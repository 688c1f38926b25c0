package migrate

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// imports are the packages that a fix adds to files.
type imports struct {
	*program
	edits []analysis.TextEdit
	names map[*ast.File]map[string]string
}

// name returns the name of a package at a position, and adds an import of it to the file
// if there is none.
func (i *imports) name(pos token.Pos, importPath, preferred string) (string, *stays) {
	file := i.file(pos)
	if name := i.names[file][importPath]; name != "" {
		return name, nil
	}
	for _, spec := range file.Imports {
		name := i.TypesInfo.PkgNameOf(spec)
		if name == nil || name.Imported().Path() != importPath || name.Name() == "_" || name.Name() == "." {
			continue
		}
		if _, found := i.Pkg.Scope().Innermost(pos).LookupParent(name.Name(), pos); found == name {
			return name.Name(), nil
		}
		return "", &stays{pos, "the name " + name.Name() + " of package " + importPath + " has another meaning here"}
	}
	name := preferred
	for n := 2; i.isTaken(file, name); n++ {
		name = "informer" + preferred
		if n > 2 {
			name += strconv.Itoa(n)
		}
	}
	if i.names[file] == nil {
		i.names[file] = map[string]string{}
	}
	i.names[file][importPath] = name
	i.edits = append(i.edits, addition(file, importPath, name))
	return name, nil
}

// isTaken reports whether a file, or the package, uses a name for something.
func (i *imports) isTaken(file *ast.File, name string) bool {
	if i.Pkg.Scope().Lookup(name) != nil || types.Universe.Lookup(name) != nil {
		return true
	}
	for _, other := range i.names[file] {
		if other == name {
			return true
		}
	}
	return hasName(file, name) || slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		pkg := i.TypesInfo.PkgNameOf(spec)
		return pkg != nil && pkg.Name() == name
	})
}

// addition returns the edit that adds an import next to those that are most like it.
func addition(file *ast.File, importPath, name string) analysis.TextEdit {
	text := strconv.Quote(importPath)
	if name != path.Base(importPath) {
		text = name + " " + text
	}
	var best *ast.ImportSpec
	var decl *ast.GenDecl
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.ImportSpec)
			if best == nil || likeness(s, importPath) >= likeness(best, importPath) {
				best, decl = s, d
			}
		}
	}
	switch {
	case best == nil:
		return replace(file.Name.End(), file.Name.End(), "\n\nimport "+text+"\n")
	case !decl.Lparen.IsValid():
		return replace(decl.Pos(), decl.Pos(), "import "+text+"\n")
	}
	return replace(best.Pos(), best.Pos(), text+"\n\t")
}

// likeness is the number of parts that two paths begin with. The standard library's are
// unlike all others.
func likeness(spec *ast.ImportSpec, importPath string) int {
	have, _ := strconv.Unquote(spec.Path.Value)
	a, b := strings.Split(have, "/"), strings.Split(importPath, "/")
	if !strings.Contains(a[0], ".") {
		return -1
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// typeName returns a type as it is written at a position: a named one, or a pointer to it.
func (i *imports) typeName(pos token.Pos, t types.Type) (string, *stays) {
	star := ""
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		star, t = "*", pointer.Elem()
	}
	var object *types.TypeName
	switch t := t.(type) {
	case *types.Alias:
		object = t.Obj()
	case *types.Named:
		if object = t.Obj(); t.TypeArgs().Len() > 0 {
			return "", &stays{pos, "its objects are of a generic type"}
		}
	}
	switch {
	case object == nil || object.Parent() == nil || object.Pkg() != nil && object.Parent() != object.Pkg().Scope():
		return "", &stays{pos, "the type of its objects has no name here"}
	case object.Pkg() == nil || object.Pkg() == i.Pkg:
		return star + object.Name(), nil
	case !object.Exported():
		return "", &stays{pos, "the type of its objects has no name here"}
	}
	name, s := i.name(pos, object.Pkg().Path(), preferredName(object.Pkg()))
	return star + name + "." + object.Name(), s
}

// preferredName returns the name under which a package is imported, as corev1 for
// k8s.io/api/core/v1.
func preferredName(pkg *types.Package) string {
	name := pkg.Name()
	if len(name) > 1 && name[0] == 'v' && '0' <= name[1] && name[1] <= '9' {
		group := path.Base(path.Dir(pkg.Path()))
		if token.IsIdentifier(group + name) {
			return group + name
		}
	}
	return cmp.Or(name, path.Base(pkg.Path()))
}
