package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// history makes a project with one commit, of benchmarks that print what before says,
// names it as the baseline, and changes it to print what now says.
func history(t *testing.T, before, now string) (dir, commit string) {
	t.Helper()
	dir = project(t, before)
	git := func(arguments ...string) string {
		run := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=Gopher", "-c", "user.email=gopher@example.com"}, arguments...)...)
		output, err := run.CombinedOutput()
		require.NoError(t, err, string(output))
		return strings.TrimSpace(string(output))
	}
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "Add benchmarks")
	commit = git("rev-parse", "--short=10", "HEAD")
	file := filepath.Join(dir, "benchmarks", "fake_test.go")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.Replace(string(content), before, now, 1)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	baselines := "Get " + commit + " ^BenchmarkGet$/^impl=typed$ ^BenchmarkGet$/^impl=client-go$\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "benchmarks", "baseline.txt"), []byte(baselines), 0o600))
	return dir, commit
}

func TestRegress(t *testing.T) {
	const before = `
func BenchmarkGet(b *testing.B) { both(b, 100, 300) }
`
	for _, test := range []struct {
		name, now, wrong string
		again            bool
	}{
		{"it is slower", `both(b, 120, 300)`, "Get: 120.0ns, was 100.0ns, 1.20 times as long (at least 1.20)", true},
		{"it is as fast", `both(b, 110, 300)`, "", false},
		{"client-go is slower by as much", `both(b, 120, 360)`, "", true},
		{"it was slower by chance", `if slow(2) { both(b, 200, 300) } else { both(b, 100, 300) }`, "", true},
		{"it was slower by chance again", `if slow(10) { both(b, 200, 300) } else { both(b, 100, 300) }`, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, commit := history(t, before, "\nfunc BenchmarkGet(b *testing.B) { "+test.now+" }\n")
			stdout, stderr, err := compare(t.Context(), t, dir, "-regress", "-benchtime", "1x")
			if test.wrong != "" {
				assert.ErrorContains(t, err, test.wrong)
				assert.Contains(t, stdout, "WORSE")
			} else {
				require.NoError(t, err)
				assert.NotContains(t, stdout, "WORSE", "it was not, when it was measured again")
			}
			assert.Contains(t, stderr, "[1/1] Get, beside "+commit)
			assert.Equal(t, test.again, strings.Contains(stderr, "measuring it again"), stderr)
			assert.Contains(t, stdout, "Get")
			assert.NoDirExists(t, filepath.Join(dir, "benchmarks", "results"))
		})
	}
}

func TestRegressFindsAllocations(t *testing.T) {
	const before = `
func BenchmarkGet(b *testing.B) { b.Run("impl=typed", func(b *testing.B) { b.ReportAllocs(); b.ReportMetric(0, "allocs/op") }); side(b, "client-go", 300) }
`
	dir, _ := history(t, before, strings.Replace(before, "ReportMetric(0,", "ReportMetric(1,", 1))
	_, _, err := compare(t.Context(), t, dir, "-regress", "-benchtime", "1x")
	assert.ErrorContains(t, err, "Get, allocs/op: 1, was 0")
}

// A change of what benchmarks read is not one of the code.
func TestRegressUsesDataOfTheCheckout(t *testing.T) {
	const before = `
func BenchmarkGet(b *testing.B) {
	size, _ := os.ReadFile("internal/cluster/size")
	both(b, 100+10*float64(len(size)), 300)
}
`
	dir, commit := history(t, before, before)
	folder := filepath.Join(dir, "benchmarks", "internal", "cluster")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "size"), []byte("large"), 0o600))
	stdout, stderr, err := compare(t.Context(), t, dir, "-regress", "-benchtime", "1x")
	require.NoError(t, err, stdout)
	assert.Contains(t, stdout, "150.0ns")
	assert.Contains(t, stderr, "beside "+commit)
}

func TestRegressErrors(t *testing.T) {
	dir, commit := history(t, "\nfunc BenchmarkGet(b *testing.B) { both(b, 100, 300) }\n", "\nfunc BenchmarkGone(b *testing.B) {}\n")
	_, _, err := compare(t.Context(), t, dir, "-regress")
	assert.ErrorContains(t, err, "no benchmark in "+filepath.Join(dir, "benchmarks")+` has a name that "^BenchmarkGet$/^impl=typed$" matches`)
	_, _, err = compare(t.Context(), t, dir, "-regress", "-bench", "List")
	assert.ErrorContains(t, err, `benchmarks/baseline.txt has no family that "List" matches`)

	baselines := filepath.Join(dir, "benchmarks", "baseline.txt")
	require.NoError(t, os.WriteFile(baselines, []byte("Get 0123456789 Get -\n"), 0o600))
	_, _, err = compare(t.Context(), t, dir, "-regress")
	assert.ErrorContains(t, err, "check out commit 0123456789 of benchmarks/baseline.txt, for which the clone has to have its history")
	assert.NotEqual(t, "0123456789", commit)
}
