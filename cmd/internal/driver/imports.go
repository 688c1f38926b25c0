package driver

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// withoutUnused removes the imports of a file that it used before a change, and does not
// after it. Imported packages give their names.
func withoutUnused(before, after []byte, pkg *types.Package) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", after, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	old, err := parser.ParseFile(token.NewFileSet(), "", before, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, imported := range pkg.Imports() {
		names[imported.Path()] = imported.Name()
	}
	removed := false
	for _, spec := range slices.Clone(file.Imports) {
		path, _ := strconv.Unquote(spec.Path.Value)
		name, given := names[path], ""
		if spec.Name != nil {
			name, given = spec.Name.Name, spec.Name.Name
		}
		if name != "" && name != "_" && name != "." && uses(old, name) && !uses(file, name) {
			removed = astutil.DeleteNamedImport(set, file, given, path) || removed
		}
	}
	if !removed {
		return after, nil
	}
	var text bytes.Buffer
	err = format.Node(&text, set, file)
	return text.Bytes(), err
}

// uses reports whether a file selects something of a name.
func uses(file *ast.File, name string) bool {
	for n := range ast.Preorder(file) {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == name {
				return true
			}
		}
	}
	return false
}
