package informers_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNames compares the exported names of the packages that are swapped by their
// import with those of client-go: a program that has one builds with the other.
func TestNames(t *testing.T) {
	for theirs, ours := range map[string]string{
		"k8s.io/client-go/informers":                 "github.com/kubetyped/informer/adapters/informers",
		"k8s.io/client-go/dynamic/dynamicinformer":   "github.com/kubetyped/informer/adapters/dynamicinformer",
		"k8s.io/client-go/metadata/metadatainformer": "github.com/kubetyped/informer/adapters/metadatainformer",
	} {
		own := slices.DeleteFunc(names(t, ours), func(name string) bool { return slices.Contains(more[ours], name) })
		assert.Equal(t, names(t, theirs), own)
	}
}

// more are the names that packages have besides client-go's.
var more = map[string][]string{
	"github.com/kubetyped/informer/adapters/informers":        {"WithDeduplication", "WithNamespaces", "WithOutOfScopeDeletions", "WithOwnWrites", "WithPacked"},
	"github.com/kubetyped/informer/adapters/dynamicinformer":  {"NewDynamicSharedInformerFactoryWithOptions", "SharedInformerOption", "WithNamespace", "WithNamespaces", "WithDeduplication", "WithOutOfScopeDeletions", "WithOwnWrites", "WithPacked", "WithTweakListOptions"},
	"github.com/kubetyped/informer/adapters/metadatainformer": {"WithNamespace", "WithNamespaces", "WithDeduplication", "WithOutOfScopeDeletions", "WithOwnWrites", "WithPacked", "WithTweakListOptions"},
}

// names returns the exported names of a package.
func names(t *testing.T, path string) []string {
	pkg, err := build.Import(path, ".", 0)
	require.NoError(t, err)
	found := map[string]struct{}{}
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), pkg.Dir+"/"+name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil && decl.Name.IsExported() {
					found[decl.Name.Name] = struct{}{}
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
						found[spec.Name.Name] = struct{}{}
					}
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), strings.Compare)
}
