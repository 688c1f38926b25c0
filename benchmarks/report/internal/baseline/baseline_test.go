package baseline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/baseline"
)

func load(t *testing.T, content string) ([]baseline.Family, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "baseline.txt")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return baseline.Load(path)
}

func TestLoad(t *testing.T) {
	families, err := load(t, "# of all\n\nGet 4bf6d85  ^BenchmarkGet$/^impl=typed$ ^BenchmarkGet$/^impl=client-go$\nSet 0123456789 Set -\n")
	require.NoError(t, err)
	assert.Equal(t, []baseline.Family{
		{Name: "Get", Commit: "4bf6d85", Pattern: "^BenchmarkGet$/^impl=typed$", Control: "^BenchmarkGet$/^impl=client-go$"},
		{Name: "Set", Commit: "0123456789", Pattern: "Set"},
	}, families)
}

func TestLoadErrors(t *testing.T) {
	for content, want := range map[string]string{
		"":                             "has none",
		"Get 4bf6d85 Get":              `baseline.txt:1: want name, commit, pattern and control, got "Get 4bf6d85 Get"`,
		"# x\nGet --all Get -":         `baseline.txt:2: commit "--all": want at least seven hexadecimal digits`,
		"Get 4bf6d85 Get/( -":          "baseline.txt:1: pattern Get/(: error parsing regexp",
		"A 4bf6d85 A -\nA 4bf6d85 A -": "baseline.txt:2: there are two families A",
	} {
		_, err := load(t, content)
		assert.ErrorContains(t, err, want)
	}
	_, err := baseline.Load(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestFile reads the project's own.
func TestFile(t *testing.T) {
	families, err := baseline.Load("../../../baseline.txt")
	require.NoError(t, err)
	assert.Greater(t, len(families), 10)
}
