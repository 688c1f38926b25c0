package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// yielding are the folders whose code yields when it takes or gives back a lock: all
// through which an event goes.
var yielding = []string{
	"index", "internal/timing", "internal/monitor", "internal/eventlog", "internal/decode/wire", "queue", "typed", "typed/control", "typed/kube", "typed/source",
}

// yielder is the code of a package with which its locks yield: now and then, all other
// goroutines that are ready run first. In a bubble time stands still meanwhile, so events of one
// instant happen in many orders.
const yielder = `
func mutantYield() {
	switch n := mutantRand.Intn(16); n {
	case 0, 1, 2:
		for range 1 << (2 * n) {
			mutantRuntime.Gosched()
		}
	}
}
`

// sources returns the paths of the files of the folders whose code yields.
func sources(root string) (paths []string, err error) {
	for _, folder := range yielding {
		all, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range all {
			if !strings.HasSuffix(path, "_test.go") {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// withYields returns the text of a file in which a goroutine yields before each Lock and after
// each Unlock that is a whole statement. Lines stay what they are.
func withYields(path, text string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", err
	}
	added := map[int]string{} // by offset
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			switch lockCall(n.X) {
			case "Lock", "RLock":
				added[offset(n.Pos())] += "mutantYield(); "
			case "Unlock", "RUnlock":
				added[offset(n.End())] += "; mutantYield()"
			}
		case *ast.DeferStmt:
			switch lockCall(n.Call) {
			case "Unlock", "RUnlock": // what is deferred first comes last
				added[offset(n.Pos())] += "defer mutantYield(); "
			}
		}
		return true
	})
	return insert(text, added), nil
}

// insert adds texts at offsets.
func insert(text string, added map[int]string) string {
	var b strings.Builder
	from := 0
	for _, at := range slices.Sorted(maps.Keys(added)) {
		b.WriteString(text[from:at])
		b.WriteString(added[at])
		from = at
	}
	b.WriteString(text[from:])
	return b.String()
}

// lockCall returns the name of the method that is called without arguments, "" if it is
// none.
func lockCall(x ast.Expr) string {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return ""
	}
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	return selected.Sel.Name
}

// addYields adds yields to the files of an overlay, by path, and adds the files that are not in
// it yet.
func addYields(root string, files map[string]string) error {
	paths, err := sources(root)
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, ok := files[path]
		if !ok {
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(src)
		}
		changed, err := withYields(path, text)
		if err != nil {
			return fmt.Errorf("have locks yield: %w", err)
		}
		if changed != text || ok {
			files[path] = changed
		}
	}
	return nil
}
