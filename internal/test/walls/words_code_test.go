package walls_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// paragraphsOfCode returns the comments, the texts of errors and logs, and the names of
// tests of all Go files.
func paragraphsOfCode(t *testing.T) (all []paragraph) {
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasPrefix(entry.Name(), "words_") || entry.Name() == "words_test.go":
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(file) {
			name, _ := filepath.Rel(root, path)
			all = append(all, (&reader{set, filepath.ToSlash(name), file, allowedIn(set, file)}).read()...)
		}
		return nil
	}))
	return all
}

// reader reads one file.
type reader struct {
	set     *token.FileSet
	name    string
	file    *ast.File
	allowed map[int][]string // rules that do not hold, by the line before that of the text
}

// isCheck reports whether a file is one of a test, a suite or a benchmark.
func isCheck(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/test/") ||
		strings.HasPrefix(name, "e2e/") || strings.HasPrefix(name, "benchmarks/")
}

var directive = regexp.MustCompile(`^//words:([WET]\d\d) \S`)

// allowedIn returns the exceptions of a file by their lines.
func allowedIn(set *token.FileSet, file *ast.File) map[int][]string {
	allowed := map[int][]string{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if match := directive.FindStringSubmatch(c.Text); match != nil {
				line := set.Position(c.Pos()).Line
				allowed[line] = append(allowed[line], match[1])
			}
		}
	}
	return allowed
}

func (r *reader) read() (all []paragraph) {
	docs := r.exported()
	for _, group := range r.file.Comments {
		of := comments
		switch {
		case docs[group]:
			of = exported
		case isCheck(r.name):
			of = checks
		}
		var allowed []string
		for _, c := range group.List {
			allowed = append(allowed, r.allowed[r.set.Position(c.Pos()).Line]...)
		}
		for text := range strings.SplitSeq(withoutIndented(group.Text()), "\n\n") {
			if text = strings.Join(strings.Fields(text), " "); text != "" {
				all = append(all, paragraph{of, r.where(group.Pos()), text, allowed})
			}
		}
	}
	if strings.HasSuffix(r.name, "_test.go") {
		for _, d := range r.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				all = append(all, paragraph{tests, r.where(f.Pos()), f.Name.Name, r.allowed[r.set.Position(f.Pos()).Line-1]})
			}
		}
	} else if isForUsers(r.name) {
		all = append(all, r.messages()...)
	}
	return all
}

func (r *reader) where(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", r.name, r.set.Position(pos).Line)
}

// withoutIndented returns a comment without its code.
func withoutIndented(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "\t")
	})
	return strings.Join(lines, "\n")
}

// exported returns the comments that go doc shows to users of a package.
func (r *reader) exported() map[*ast.CommentGroup]bool {
	shown := map[*ast.CommentGroup]bool{}
	if !isForUsers(r.name) || strings.Contains("/"+r.name, "/internal/") || r.file.Name.Name == "main" {
		return shown
	}
	shown[r.file.Doc] = true
	for _, d := range r.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver, _, isMethod := strings.Cut(nameOf(d), ".")
			shown[d.Doc] = d.Name.IsExported() && (!isMethod || ast.IsExported(receiver))
		case *ast.GenDecl:
			some := false
			for _, spec := range d.Specs {
				some = exportedOf(spec, shown) || some
			}
			shown[d.Doc] = some
		}
	}
	return shown
}

// exportedOf notes the comments of a type, constant or variable, and reports whether it is
// exported.
func exportedOf(spec ast.Spec, shown map[*ast.CommentGroup]bool) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return false
		}
		shown[s.Doc], shown[s.Comment] = true, true
		ast.Inspect(s.Type, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				is := len(f.Names) == 0 || f.Names[0].IsExported()
				shown[f.Doc], shown[f.Comment] = is, is
			}
			return true
		})
		return true
	case *ast.ValueSpec:
		is := slices.ContainsFunc(s.Names, (*ast.Ident).IsExported)
		shown[s.Doc], shown[s.Comment] = is, is
		return is
	}
	return false
}

// messages returns the texts of errors and logs.
func (r *reader) messages() (all []paragraph) {
	ast.Inspect(r.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		text, pos, ok := messageOf(call)
		if ok {
			all = append(all, paragraph{messages, r.where(pos), text, r.allowed[r.set.Position(pos).Line-1]})
		}
		return true
	})
	return all
}

// messageOf returns the text of an error or of a line that is logged.
func messageOf(call *ast.CallExpr) (text string, pos token.Pos, ok bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", 0, false
	}
	if x, isName := f.X.(*ast.Ident); isName && (x.Name == "errors" && f.Sel.Name == "New" || x.Name == "fmt" && f.Sel.Name == "Errorf") {
		text, ok = literal(call.Args[0])
		return text, call.Pos(), ok
	}
	line, ok := readLog(call)
	return line.message, call.Pos(), ok && line.level != "" && f.Sel.Name != "HandleError"
}
