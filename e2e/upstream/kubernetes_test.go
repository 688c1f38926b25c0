package upstream

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/target"
)

const kubernetes = "k8s.io/kubernetes"

var tested = flag.String("kubernetes", "./pkg/controller/deployment/... ./pkg/controller/garbagecollector", "the packages of Kubernetes whose tests TestKubernetes runs")

// factories are the packages that programs import informer factories from, and those that they
// import after the change.
var factories = strings.NewReplacer(
	`"k8s.io/client-go/informers"`, `"github.com/kubetyped/informer/adapters/informers"`,
	`"k8s.io/client-go/dynamic/dynamicinformer"`, `"github.com/kubetyped/informer/adapters/dynamicinformer"`,
	`"k8s.io/client-go/metadata/metadatainformer"`, `"github.com/kubetyped/informer/adapters/metadatainformer"`,
)

// TestKubernetes: packages of Kubernetes pass their tests after the imports of informer factories
// are changed, in them and in all that they are made of.
//
//	make upstream
func TestKubernetes(t *testing.T) {
	root := target.Repository(t)
	dir := copyOf(t, kubernetes, filepath.Join(root, "e2e"), "informer")
	requireStaging(t, dir, filepath.Join(root, "e2e"))
	changed := changeImports(t, dir)
	assert.Greater(t, changed, 100, "files that import factories")

	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off"}, strings.Fields(*tested)...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	passed := len(regexp.MustCompile(`(?m)^ok `).FindAll(out.Bytes(), -1))
	assert.NoError(t, err, "%s", &out)
	assert.NotZero(t, passed, "%s", &out)
	t.Logf("in %d files the imports are changed; the tests of %d packages pass", changed, passed)
}

// requireStaging edits a copy of Kubernetes so that it requires releases of the modules that are
// developed in its folder staging, which is not part of the copy. They are of the version of
// client-go that another module requires.
func requireStaging(t *testing.T, dir, of string) {
	var file struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, dir, "go", "mod", "edit", "-json")), &file))
	version := strings.TrimSpace(run(t, of, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go"))
	edit := []string{"mod", "edit"}
	for _, r := range file.Replace {
		if strings.HasPrefix(r.New.Path, "./staging/") {
			edit = append(edit, "-replace="+r.Old.Path+"="+r.Old.Path+"@"+version)
		}
	}
	require.Greater(t, len(edit), 20, "the modules of staging")
	run(t, dir, "go", edit...)
}

// changeImports changes the imports of factories in a folder, and returns the number of files.
func changeImports(t *testing.T, dir string) (changed int) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		before, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		after := factories.Replace(string(before))
		if after == string(before) {
			return nil
		}
		changed++
		return os.WriteFile(path, []byte(after), 0o644)
	}))
	return changed
}
