package walls_test

import (
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The parts of client-go that are generated, package upon package, and what links them.
var (
	clients   = []string{"k8s.io/client-go/kubernetes/typed", "k8s.io/client-go/applyconfigurations", "k8s.io/client-go/discovery"}
	informers = append([]string{"k8s.io/client-go/informers", "k8s.io/client-go/listers"}, clients...)
	elections = append([]string{"k8s.io/client-go/tools/leaderelection"}, informers...)
)

// links has, for each package of this module that others can import, the number of
// packages that a program links with it: itself, this module's others, its requirements'
// and Go's, as `go list -deps` counts them. Every program that imports it compiles them,
// and its users scan them for vulnerabilities. So a number here is changed on purpose,
// in the commit that has the reason.
var links = map[string]struct {
	packages  int
	generated []string // what it links of elections; nothing, if it is not said
}{
	"adapters":                  {packages: 420},
	"adapters/dynamicinformer":  {packages: 753, generated: informers},
	"adapters/informers":        {packages: 749, generated: informers},
	"adapters/metadatainformer": {packages: 754, generated: informers},
	"index":                     {packages: 115},
	"lister":                    {packages: 273},
	"queue":                     {packages: 230},
	"typed":                     {packages: 291},
	"typed/control":             {packages: 292},
	"typed/fleet":               {packages: 340},
	"typed/inspect":             {packages: 355},
	"typed/inspect/snapshot":    {packages: 68},
	"typed/kube":                {packages: 415},
	"typed/kube/election":       {packages: 720, generated: elections},
	"typed/observe":             {packages: 293},
	"typed/reference":           {packages: 294},
	"typed/report":              {packages: 278},
	"typed/shard":               {packages: 332},
	"typed/source":              {packages: 277},
	"apitest":                   {packages: 531, generated: []string{"k8s.io/client-go/applyconfigurations", "k8s.io/client-go/discovery"}},
	"apitest/history":           {packages: 294},
	"apitest/simulation":        {packages: 616, generated: clients},
	"typed/view":                {packages: 295},
}

// TestLinks counts what each package links. It is exact: what is saved is to be kept.
func TestLinks(t *testing.T) {
	if version.Lang(runtime.Version()) != goVersion(t) {
		t.Skipf("the packages of %s are others than those of %s, with which they were counted", runtime.Version(), goVersion(t))
	}
	linked := linkedBy(t)
	for name := range linked {
		if isImported(name) {
			assert.Contains(t, links, name, "the table has no number for it")
		}
	}
	for name, want := range links {
		require.Contains(t, linked, name)
		assert.Equal(t, want.packages, len(linked[name]), "%s: if that is meant, change the table, and docs/reference/versions.md", name)
	}
}

// TestGenerated: only packages that are made for them link client-go's generated packages, which
// come by the hundreds.
func TestGenerated(t *testing.T) {
	linked := linkedBy(t)
	for name, may := range links {
		for _, part := range elections {
			within := func(linked string) bool { return linked == part || strings.HasPrefix(linked, part+"/") }
			assert.Equal(t, slices.Contains(may.generated, part), slices.ContainsFunc(linked[name], within), "whether %s links %s", name, part)
		}
	}
}

// TestVersioningPage holds the numbers of docs/reference/versions.md to the table.
func TestVersioningPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "versions.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|.*\\| ([0-9]+) \\|$").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		require.Contains(t, links, row[1])
		assert.Equal(t, strconv.Itoa(links[row[1]].packages), row[2], "docs/reference/versions.md of %s", row[1])
	}
}

// isImported reports whether a package is for others to import.
func isImported(name string) bool {
	for _, room := range []string{"benchmarks", "examples", "internal"} {
		if strings.HasPrefix(name+"/", room+"/") {
			return false
		}
	}
	return !strings.Contains(name+"/", "/internal/")
}

// goVersion returns the version of Go in go.mod, without the last number.
func goVersion(t *testing.T) string {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod)
	require.NotNil(t, found)
	return version.Lang("go" + string(found[1]))
}

// linkedBy returns, for each package of this module, by its folder, the packages that it
// links, itself included.
func linkedBy(t *testing.T) map[string][]string {
	t.Helper()
	readSources(t)
	out, err := listed()
	require.NoError(t, err)
	linked := map[string][]string{}
	for line := range strings.Lines(out) {
		packages := strings.Fields(line)
		if own, ok := strings.CutPrefix(packages[0], module); ok {
			linked[own] = packages
		}
	}
	return linked
}

// listed returns a line for each package: the package, and all that it links. They are those of
// one platform, so that it is the same everywhere; nothing is compiled for it.
var listed = sync.OnceValues(func() (string, error) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=", "GOEXPERIMENT=")
	list.Stderr = os.Stderr
	out, err := list.Output()
	return string(out), err
})

// readSources reads the files that decide the imports. Because the test reads them itself, a
// change to one of them invalidates the cached result of the test.
func readSources(t *testing.T) {
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path != root && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "e2e"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"), entry.Name() == "go.mod":
			_, err = os.ReadFile(path)
		}
		return err
	}))
}
