package cachemutation_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
	"github.com/kubetyped/informer/cmd/internal/load"
)

var (
	checkTable  = flag.Bool("table", false, "make the table of summaries again and compare it with the file; its modules are downloaded")
	updateTable = flag.Bool("table.update", false, "make the table of summaries again and write it")
)

// versionsFrom is the module whose versions of other modules the table has.
var versionsFrom = filepath.Join("..", "..", "..", "adapters", "ctrlruntime")

// tableModule writes a module that requires all modules of the table, and returns its folder.
func tableModule(t *testing.T) string {
	dir := t.TempDir()
	versionOf := func(module string) string {
		cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module)
		cmd.Dir = versionsFrom
		version, err := cmd.Output()
		if err != nil {
			t.Fatal(module, err)
		}
		return strings.TrimSpace(string(version))
	}
	kubernetes := versionOf("k8s.io/client-go")
	file := fmt.Sprintf("module table\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/client-go %s\n\tk8s.io/component-helpers %s\n\tsigs.k8s.io/controller-runtime %s\n)\n",
		kubernetes, kubernetes, versionOf("sigs.k8s.io/controller-runtime"))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tablePackages are the packages of the table.
var tablePackages = []string{
	"slices", "maps", "strings", "sort",
	"k8s.io/api/core/v1", "k8s.io/api/apps/v1", "k8s.io/api/batch/v1", "k8s.io/api/networking/v1",
	"k8s.io/apimachinery/pkg/api/...", "k8s.io/apimachinery/pkg/apis/meta/...",
	"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/fields", "k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/util/...",
	"k8s.io/client-go/tools/...", "k8s.io/client-go/util/...", "k8s.io/client-go/dynamic/...", "k8s.io/client-go/listers/core/v1",
	"k8s.io/component-helpers/...",
	"sigs.k8s.io/controller-runtime/pkg/...",
}

// TestTable makes the table of summaries again.
func TestTable(t *testing.T) {
	if !*checkTable && !*updateTable {
		t.Skip("it needs the modules of other projects: run it with -table, or with -table.update if analysis has changed")
	}
	made := makeTable(t)
	if *updateTable {
		if err := os.WriteFile("summaries.json.gz", zipped(t, made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("summaries.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unzipped(t, file), made) {
		t.Error("the table is not what the analyzer makes: run this test with -table.update")
	}
}

// makeTable analyses the packages of the table and those that these import, dependencies
// first.
func makeTable(t *testing.T) []byte {
	cachemutation.All = true
	t.Cleanup(func() { cachemutation.All = false })
	config := &packages.Config{Dir: tableModule(t), Env: append(os.Environ(), "GOFLAGS=-mod=mod"), Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps}
	roots, err := packages.Load(config, tablePackages...)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, p := range roots {
		if p.Name != "" && !strings.Contains(p.PkgPath, "/internal/") && !strings.Contains(p.PkgPath, "test") && !strings.Contains(p.PkgPath, "fake") {
			wanted[p.PkgPath] = true
		}
	}
	config.Mode, config.Fset = packages.LoadSyntax|packages.NeedDeps, token.NewFileSet()
	all, err := packages.Load(config, sortedKeys(wanted)...)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]map[string]*cachemutation.Summary{}
	runner := &load.Runner{Analyzers: []*analysis.Analyzer{cachemutation.Analyzer}}
	packages.Visit(all, nil, func(p *packages.Package) {
		if !wanted[p.PkgPath] || p.IllTyped {
			return
		}
		if _, err := runner.Run(p); err != nil {
			t.Error(err)
		}
		table[p.PkgPath] = map[string]*cachemutation.Summary{}
	})
	for obj, fact := range runner.Facts() {
		f, isFunc := obj.(*types.Func)
		if isFunc && f.Pkg() != nil && !isGenerated(f.Name()) && table[f.Pkg().Path()] != nil {
			table[f.Pkg().Path()][f.FullName()] = withLastStep(fact.(*cachemutation.Summary))
		}
	}
	data, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// isGenerated reports whether a method is one that programs do not call on cached objects,
// or that the analyzer knows by its name.
func isGenerated(name string) bool {
	for _, prefix := range []string{"DeepCopy", "Marshal", "Unmarshal", "XXX_", "Reset", "Size", "ProtoMessage", "CodecDecodeSelf"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// withLastStep leaves out the calls on the way to writes, which are those of other
// modules.
func withLastStep(s *cachemutation.Summary) *cachemutation.Summary {
	out := *s
	out.Writes = slices.Clone(s.Writes)
	for i, w := range out.Writes {
		out.Writes[i].Steps = w.Steps[max(0, len(w.Steps)-1):]
	}
	return &out
}

func sortedKeys(set map[string]bool) (all []string) {
	for k := range set {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

func zipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unzipped(t *testing.T, data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
