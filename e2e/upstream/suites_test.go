package upstream

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/cluster"
)

// suite is one of controller-runtime's packages with tests that make caches.
type suite struct {
	path         string
	deduplicated bool // by the cache
}

var suites = []suite{
	{"pkg/cache", false}, {"pkg/cache", true},
	{"pkg/client", false}, {"pkg/client", true},
	{"pkg/builder", false}, {"pkg/source", true}, {"pkg/controller", false}, {"pkg/internal/controller", true},
}

// spec is a test of a suite, as ginkgo reports it.
type spec struct {
	ContainerHierarchyTexts []string
	LeafNodeType            string
	LeafNodeText            string
	State                   string
	NumAttempts             int
	Failure                 struct {
		Message  string
		Location struct {
			FileName   string
			LineNumber int
		}
	}
}

// name returns the texts of the spec's containers and its own.
func (s spec) name() string {
	return strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " ")
}

// TestControllerRuntime: each suite passes, apart from the specs that are listed. It has its
// own cluster, as suites leave objects that others trip over.
func TestControllerRuntime(t *testing.T) {
	if os.Getenv("E2E_KUBECONFIG") != "" {
		t.Skip("the suites need clusters of their own")
	}
	module := copyRuntime(t)
	for _, s := range suites {
		t.Run(fmt.Sprintf("%s/deduplicated=%t", strings.TrimPrefix(s.path, "pkg/"), s.deduplicated), func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			program := filepath.Join(temp, "suite")
			run(t, module, "go", "test", "-mod=mod", "-c", "-o", program, "./"+s.path)
			var names []string
			for name := range differences[s] {
				names = append(names, regexp.QuoteMeta(name)+"$")
			}
			report := program + ".json"
			cmd := exec.CommandContext(t.Context(), program, "-ginkgo.json-report="+report, "-ginkgo.no-color", "-ginkgo.flake-attempts=2", "-ginkgo.timeout=5m", "-ginkgo.skip="+strings.Join(names, "|"))
			cmd.Dir = filepath.Join(module, s.path)
			cmd.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+startCluster(t), "TMPDIR="+temp)
			if s.deduplicated {
				cmd.Env = append(cmd.Env, deduplicated+"=true")
			}
			out, err := cmd.CombinedOutput()
			check(t, differences[s], specsOf(t, report, out))
			assert.Contains(t, string(out), made)
			if !t.Failed() {
				assert.NoError(t, err, "%s", out)
			}
		})
	}
}

// startCluster starts a cluster for a test, as envtest has it, and returns its kubeconfig file.
func startCluster(t *testing.T) string {
	own, err := cluster.Start(t.Context(), cluster.WithAPIServerFlags("--allow-privileged=true"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, own.Stop()) })
	content, err := own.Kubeconfig()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

// specsOf reads a report.
func specsOf(t *testing.T, report string, out []byte) []spec {
	text, err := os.ReadFile(report)
	require.NoError(t, err, "the suite has not reported: %s", out)
	var reports []struct{ SpecReports []spec }
	require.NoError(t, json.Unmarshal(text, &reports))
	require.Len(t, reports, 1)
	return reports[0].SpecReports
}

// check fails the test for specs that have failed, and differences that are none.
func check(t *testing.T, differences map[string]string, specs []spec) {
	passed, skipped := 0, map[string]int{}
	for _, s := range specs {
		switch _, listed := differences[s.name()]; {
		case listed:
			skipped[s.name()]++
			assert.Equal(t, "skipped", s.State, s.name())
		case s.State == "passed":
			passed++
			if s.NumAttempts > 1 {
				t.Logf("%q has passed the second time", s.name())
			}
		case s.State != "skipped" && s.State != "pending":
			t.Errorf("%s %q %s at %s:%d: %s", s.LeafNodeType, s.name(), s.State, s.Failure.Location.FileName, s.Failure.Location.LineNumber, s.Failure.Message)
		}
	}
	for name, reason := range differences {
		assert.NotZero(t, skipped[name], "%s no longer has the spec %q, which is left out: %s", upstream, name, reason)
	}
	assert.NotZero(t, passed, "the suite has run")
	t.Logf("%d specs have passed, %d are left out", passed, len(differences))
}
