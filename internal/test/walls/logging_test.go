package walls_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logLine is a message that is logged.
type logLine struct {
	message, level string
	keys           []string // in the order of the call
}

// String returns the line as docs/reference/logs.md has it.
func (l logLine) String() string {
	keys := make([]string, len(l.keys))
	for i, key := range l.keys {
		keys[i] = "`" + key + "`"
	}
	return "| " + l.message + " | " + l.level + " | " + strings.Join(keys, ", ") + " |"
}

// TestLoggingPage holds docs/reference/logs.md to the code: each message that an informer, a
// queue or an adapter logs is there, with its level and keys, and no other.
func TestLoggingPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "logs.md"))
	require.NoError(t, err)
	var documented, logged []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 4 && cells[1] != "level" {
			documented = append(documented, strings.Join(cells[:3], " | ")+" |")
		}
	}
	for file, code := range goFiles(t, parser.SkipObjectResolution) {
		if !isDocumented(filepath.ToSlash(file)) {
			continue
		}
		ast.Inspect(code, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if line, ok := readLog(call); ok {
					logged = append(logged, line.String())
				}
			}
			return true
		})
	}
	slices.Sort(logged)
	slices.Sort(documented)
	assert.Equal(t, strings.Join(slices.Compact(logged), "\n"), strings.Join(documented, "\n"))
}

// isDocumented reports whether a file logs for users: neither tests nor examples do, nor
// the server that is for tests. Of internal, the answers to own writes are logged for users.
func isDocumented(file string) bool {
	for _, room := range []string{"examples", "benchmarks", "e2e", "tools", "internal", "apitest", "typed/internal"} {
		if strings.HasPrefix(file, room+"/") && !strings.HasPrefix(file, "internal/answers/") {
			return false
		}
	}
	return !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/examples/")
}

// readLog returns what a call logs, if it does.
func readLog(call *ast.CallExpr) (line logLine, ok bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return line, false
	}
	args := call.Args
	if of, ok := f.X.(*ast.Ident); ok && (of.Name == "http" || f.Sel.Name == "add" && of.Name != "log") {
		return line, false
	}
	switch f.Sel.Name {
	case "add": // of lines that are logged when no lock is held
		line.level = "info"
	case "Info":
		line.level = "info"
		if v, ok := f.X.(*ast.CallExpr); ok {
			if level, ok := v.Fun.(*ast.SelectorExpr); ok && level.Sel.Name == "V" {
				line.level = "V(" + v.Args[0].(*ast.BasicLit).Value + ")"
			}
		}
	case "Error":
		line.level, args = "error", skip(args, 1)
	case "HandleErrorWithContext":
		line.level, args = "error", skip(args, 2)
	case "HandleError":
		wrapped, ok := args[0].(*ast.CallExpr)
		if !ok {
			return line, false
		}
		line.level = "error"
		line.message, ok = literal(wrapped.Args[0])
		return line, ok
	}
	if line.level == "" || len(args) == 0 {
		return line, false
	}
	if line.message, ok = literal(args[0]); !ok {
		return line, false
	}
	for i := 1; i < len(args); i += 2 {
		if key, ok := literal(args[i]); ok {
			line.keys = append(line.keys, key)
		}
	}
	return line, true
}

func skip(args []ast.Expr, n int) []ast.Expr { return args[min(n, len(args)):] }

// literal returns the value of a string that is written out.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
