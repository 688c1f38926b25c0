package measure

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// suite builds benchmarks whose source is the text, which may use side and
// packages of the standard library.
func suite(t *testing.T, text string, packages ...string) *Suite {
	t.Helper()
	dir := t.TempDir()
	source := "package fake\n\nimport \"testing\"\n"
	for _, name := range packages {
		source += "import \"" + name + "\"\n"
	}
	source += "\nfunc side(b *testing.B, name string, cost float64) {\n" +
		"\tb.Run(\"impl=\"+name, func(b *testing.B) { b.ReportMetric(cost, \"ns/op\") })\n}\n" + text
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/fake\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fake_test.go"), []byte(source), 0o600))
	s, err := Build(t.Context(), dir, filepath.Join(dir, "fake.exe"))
	require.NoError(t, err)
	return s
}

const twoBenchmarks = `
func BenchmarkOne(b *testing.B) {
	b.Run("size=1", func(b *testing.B) { side(b, "typed", 10); side(b, "client-go", 30) })
	b.Run("size=2", func(b *testing.B) { side(b, "typed", 20) })
}

func BenchmarkTwo(b *testing.B) { side(b, "typed", 40) }
`

// measured runs what run says, and returns the results, the progress and how
// often results were saved.
func measured(ctx context.Context, run Run, suites ...*Suite) (r *results.Results, progress string, saves int, err error) {
	var written bytes.Buffer
	run.Progress = &written
	run.Save = func(*results.Results) error { saves++; return nil }
	run.Benchtime = "1x"
	r = &results.Results{}
	err = run.Measure(ctx, suites, r)
	return r, written.String(), saves, err
}

func TestMeasure(t *testing.T) {
	s := suite(t, twoBenchmarks)
	r, progress, saves, err := measured(t.Context(), Run{Patterns: []string{"."}, Rounds: 3}, s)
	require.NoError(t, err)
	require.Len(t, r.Series, 4)
	assert.Equal(t, []float64{1e-8, 1e-8, 1e-8}, r.Find("One/size=1", "typed").Values("sec/op"))
	assert.Len(t, r.Find("Two", "typed").Values("sec/op"), 3)
	assert.Equal(t, 3, r.Rounds)
	assert.Equal(t, 6, saves, "after every process")

	var lines []string
	for line := range strings.Lines(progress) {
		lines = append(lines, strings.TrimSpace(line))
	}
	require.Len(t, lines, 7)
	assert.Equal(t, "[1/6] round 1 of 3: One", lines[0])
	assert.Equal(t, "[2/6] round 1 of 3: Two", lines[1])
	assert.Equal(t, "[3/6] round 2 of 3: One, about 10s left", lines[2])
	assert.Regexp(t, "measured 2 benchmarks in", lines[6])
}

func TestPatterns(t *testing.T) {
	s := suite(t, twoBenchmarks)
	r, _, _, err := measured(t.Context(), Run{Patterns: []string{"One/size=1/impl=typed", "Two"}, Rounds: 1}, s)
	require.NoError(t, err)
	require.Len(t, r.Series, 2)
	assert.Equal(t, "One/size=1", r.Series[0].Name)
	assert.Equal(t, "Two", r.Series[1].Name)

	r, _, _, err = measured(t.Context(), Run{Patterns: []string{"."}, Except: []string{"BenchmarkOne"}, Rounds: 1}, s)
	require.NoError(t, err)
	require.Len(t, r.Series, 1)
	assert.Equal(t, "Two", r.Series[0].Name)

	_, _, _, err = measured(t.Context(), Run{Patterns: []string{"Three"}, Rounds: 1}, s)
	assert.ErrorContains(t, err, `no benchmark has a name that "Three" matches`)
	_, _, _, err = measured(t.Context(), Run{Patterns: []string{"("}, Rounds: 1}, s)
	assert.ErrorContains(t, err, `list the benchmarks that "(" matches`)
}

func TestProcessors(t *testing.T) {
	s := suite(t, twoBenchmarks)
	r, _, _, err := measured(t.Context(), Run{Patterns: []string{"."}, Rounds: 1, Processors: map[string]string{"BenchmarkTwo": "1,2"}}, s)
	require.NoError(t, err)
	assert.NotNil(t, r.Find("Two/gomaxprocs=1", "typed"))
	assert.NotNil(t, r.Find("Two/gomaxprocs=2", "typed"))
	assert.NotNil(t, r.Find("One/size=1", "typed"))
}

func TestOneThatFails(t *testing.T) {
	s := suite(t, `
func BenchmarkOne(b *testing.B) { side(b, "typed", 1); b.Fatal("no such Pod") }

func BenchmarkTwo(b *testing.B) { side(b, "typed", 40) }

func BenchmarkZero(b *testing.B) {}
`)
	r, _, _, err := measured(t.Context(), Run{Patterns: []string{"One", "Zero", "Two"}, Rounds: 1}, s)
	assert.ErrorContains(t, err, "^BenchmarkOne$ in")
	assert.ErrorContains(t, err, "no such Pod")
	assert.ErrorContains(t, err, "benchmark Zero")
	assert.ErrorContains(t, err, "its name has no part")
	assert.NotNil(t, r.Find("Two", "typed"), "the others go on")
	assert.NotNil(t, r.Find("One", "typed"), "what it has printed before counts")
}

func TestInterrupt(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := suite(t, `
func BenchmarkOne(b *testing.B) { side(b, "typed", 1) }

func BenchmarkTwo(b *testing.B) {
	side(b, "typed", 2)
	if _, err := net.Dial("tcp", "`+listener.Addr().String()+`"); err != nil {
		b.Fatal(err)
	}
	time.Sleep(time.Hour)
}
`, "net", "time")
	ctx, cancel := context.WithCancel(t.Context())
	var connecting sync.WaitGroup
	connecting.Go(func() {
		connection, err := listener.Accept() // the benchmark has printed what it is to print
		cancel()
		if assert.NoError(t, err) {
			assert.NoError(t, connection.Close())
		}
	})
	r, _, _, err := measured(ctx, Run{Patterns: []string{"."}, Rounds: 1000}, s)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []float64{1e-9}, r.Find("One", "typed").Values("sec/op"))
	assert.Equal(t, []float64{2e-9}, r.Find("Two", "typed").Values("sec/op"), "what it has printed before counts")
	connecting.Wait()
	require.NoError(t, listener.Close())
}

func TestMatches(t *testing.T) {
	s := suite(t, twoBenchmarks)
	for pattern, want := range map[string]bool{".": true, "One/size=9": true, "^BenchmarkTwo$": true, "Three": false, "^One": false} {
		got, err := Matches(s.dir, []string{"Four", pattern})
		require.NoError(t, err)
		assert.Equal(t, want, got, pattern)
	}
	_, err := Matches(s.dir, []string{"("})
	assert.ErrorContains(t, err, "patterns of benchmarks")
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "bad_test.go"), []byte("packag"), 0o600))
	_, err = Matches(s.dir, []string{"Three"})
	assert.ErrorContains(t, err, "benchmarks in "+s.dir)
}

func TestBuild(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/fake\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fake_test.go"), []byte("package fake\n\nvar x = y\n"), 0o600))
	_, err := Build(t.Context(), dir, filepath.Join(dir, "fake.exe"))
	assert.ErrorContains(t, err, "build the benchmarks in "+dir)
	assert.ErrorContains(t, err, "undefined: y")
}

func TestVersions(t *testing.T) {
	s := suite(t, twoBenchmarks)
	versions, err := s.Versions(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, versions)
	assert.Equal(t, "go", versions[0].Name)
	assert.Regexp(t, `^1\.`, versions[0].Version)
}

func TestEstimate(t *testing.T) {
	run := Run{Rounds: 3}
	steps := []step{{took: 10 * time.Second}, {took: 20 * time.Second}, {took: 30 * time.Second}, {took: 40 * time.Second}}
	_, known := run.left(0, 2, steps, time.Minute)
	assert.False(t, known, "too few to tell")
	left, known := run.left(0, 3, steps, time.Minute)
	assert.True(t, known)
	assert.Equal(t, 9*20*time.Second, left, "nine more like the three before")
	left, _ = run.left(1, 2, steps, time.Hour)
	assert.Equal(t, 70*time.Second+100*time.Second, left)
}
