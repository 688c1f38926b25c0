package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/target"
)

const (
	upstream = "sigs.k8s.io/controller-runtime"
	adapter  = "github.com/kubetyped/informer/adapters/ctrlruntime"

	deduplicated = "UPSTREAM_DEDUPLICATED"                   // a variable of suites that is not empty, if caches deduplicate
	made         = "A cache of adapters/ctrlruntime is made" // what suites print
)

// hook has cache.New return the cache that it names. What makes that one calls cache.New
// itself, with a NewInformer.
const hook = `package cache

// Tested makes caches in the place of New.
var Tested NewCacheFunc

func init() {
	if Tested != nil && opts.NewInformer == nil {
		return Tested(cfg, opts)
	}
}`

// copyRuntime copies controller-runtime, and has its packages use the adapter's cache.
func copyRuntime(t *testing.T) (dir string) {
	dir = copyOf(t, upstream, filepath.Join(target.Repository(t), "adapters/ctrlruntime"), "runtime")
	addHook(t, filepath.Join(dir, "pkg/cache/cache.go"))
	for _, s := range suites {
		useHook(t, filepath.Join(dir, s.path))
	}
	return dir
}

// copyOf copies a module, of the version that another module requires, and has the copy require
// this project's modules. It returns the folder of the copy. The folder is the same each time, so
// that the build cache has what an earlier run compiled.
func copyOf(t *testing.T, module, requiredBy, name string) (dir string) {
	root := target.Repository(t)
	dir = filepath.Join(root, "e2e/bin/upstream", name)
	var from struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(run(t, requiredBy, "go", "mod", "download", "-json", module)), &from))
	require.NoError(t, os.RemoveAll(dir), "left by an earlier run")
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.CopyFS(dir, os.DirFS(from.Dir)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "vendor")))
	edit := []string{"mod", "edit"}
	for _, path := range []string{"", "/adapters/ctrlruntime", "/adapters/metrics"} {
		ours := "github.com/kubetyped/informer" + path
		edit = append(edit, "-require="+ours+"@v0.0.0", "-replace="+ours+"="+root+path)
	}
	run(t, dir, "go", edit...)
	var sums []byte
	for _, file := range []string{dir, filepath.Join(root, "adapters/ctrlruntime"), filepath.Join(root, "e2e")} {
		sum, err := os.ReadFile(filepath.Join(file, "go.sum"))
		require.NoError(t, err)
		sums = append(sums, sum...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
	return dir
}

// addHook puts the hook at the beginning of the function New of a file.
func addHook(t *testing.T, path string) {
	files := token.NewFileSet()
	from, err := parser.ParseFile(files, "", hook, 0)
	require.NoError(t, err)
	into, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range into.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "New" {
			f.Body.List = append(from.Decls[1].(*ast.FuncDecl).Body.List, f.Body.List...)
			into.Decls = append(into.Decls, from.Decls[0])
			into.Comments = nil
			var text bytes.Buffer
			require.NoError(t, format.Node(&text, files, into))
			require.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
			return
		}
	}
	t.Fatalf("%s has no function New: put the hook where %s makes its caches now", path, upstream)
}

// useHook adds a file to the tests of a package. It is one outside of the package, which
// the adapter imports.
func useHook(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*_suite_test.go"))
	require.NoError(t, err)
	require.Len(t, files, 1, "%s has one file that names its suite", dir)
	suite, err := parser.ParseFile(token.NewFileSet(), files[0], nil, parser.PackageClauseOnly)
	require.NoError(t, err)
	text := fmt.Sprintf(`package %s_test

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	%q
	%q
)

func init() {
	var options []ctrlruntime.CacheOption
	if os.Getenv(%q) != "" {
		options = append(options, ctrlruntime.WithDeduplication())
	}
	made := ctrlruntime.NewCache(options...)
	cache.Tested = func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		fmt.Println(%q)
		return made(config, o)
	}
}
`, strings.TrimSuffix(suite.Name.Name, "_test"), upstream+"/pkg/cache", adapter, deduplicated, made)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hook_test.go"), []byte(text), 0o644))
}

// run runs a command in a folder and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s%s", cmd, out, &failed)
	return string(out)
}
