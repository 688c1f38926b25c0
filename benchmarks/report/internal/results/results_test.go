package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

const printed = `goos: linux
cpu: some
BenchmarkGet/impl=typed-2         	 1000	       100 ns/op	       8 B/op	 1 allocs/op
BenchmarkGet/impl=client-go-2     	 1000	       150 ns/op	       0 B/op	 0 allocs/op
BenchmarkRead/readers=8/impl=typed	 1000	       200 ns/op	    2000 reads/s
BenchmarkGet/impl=typed-2         	 1000	       120 ns/op	       8 B/op	 1 allocs/op
`

func read(t *testing.T, text string, processors bool) *Results {
	r := &Results{}
	reader := benchfmt.NewReader(strings.NewReader(text), "test")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		require.True(t, ok, reader.Result())
		require.NoError(t, r.Add(result, processors))
	}
	require.NoError(t, reader.Err())
	return r
}

func TestAddSortsBySide(t *testing.T) {
	r := read(t, printed, false)
	require.Len(t, r.Series, 3)
	here := r.Find("Get", "typed")
	assert.InDeltaSlice(t, []float64{100e-9, 120e-9}, here.Values("sec/op"), 1e-15)
	assert.Equal(t, []float64{8, 8}, here.Values("B/op"))
	assert.Nil(t, here.Values("reads/s"))
	assert.Len(t, r.Find("Get", "client-go").Values("sec/op"), 1)
	assert.Equal(t, []float64{2000}, r.Find("Read/readers=8", "typed").Values("reads/s"))
	assert.Nil(t, r.Find("Get", "krt"))
}

func TestAddKeepsProcessors(t *testing.T) {
	r := read(t, printed, true)
	assert.NotNil(t, r.Find("Get/gomaxprocs=2", "typed"))
	assert.NotNil(t, r.Find("Read/readers=8/gomaxprocs=1", "typed"))
}

func TestAddNeedsASide(t *testing.T) {
	var r Results
	err := r.Add(&benchfmt.Result{Name: benchfmt.Name("Get/objects=1-2")}, false)
	assert.ErrorContains(t, err, `benchmark Get/objects=1-2: its name has no part "/impl="`)
	assert.Empty(t, r.Series)
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	for _, r := range []*Results{
		{Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		read(t, printed, false),
	} {
		r.Command, r.Machine.CPU, r.Versions = "go run <x>", "some", []Version{{"go", "1.26"}}
		require.NoError(t, r.Save(path))
		loaded, err := Load(path)
		require.NoError(t, err)
		assert.Len(t, loaded.Series, len(r.Series))
		if len(r.Series) == 0 {
			loaded.Series = nil
		}
		assert.Equal(t, r, loaded)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(content), "\n    {\"Name\""), "a line for each series")
	loaded, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, "1.26", loaded.Version("go"))
	assert.Empty(t, loaded.Version("other"))
}

func TestBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	_, err := Load(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	for _, content := range []string{"", "[]", `{"Other": 1}`} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err = Load(path)
		assert.ErrorContains(t, err, path+" was not written by the comparison", content)
	}
	assert.ErrorIs(t, new(Results).Save(filepath.Join(filepath.Dir(path), "none", "x")), os.ErrNotExist)
}

func TestTake(t *testing.T) {
	one := func(value float64, names ...string) *Results {
		r := &Results{Commit: "abc", Rounds: int(value), Machine: Machine{CPU: "some"}}
		for _, name := range names {
			for _, side := range []string{"typed", "client-go"} {
				r.Series = append(r.Series, &Series{Name: name, Side: side, Metrics: []Metric{{Unit: "sec/op", Values: []float64{value}}}})
			}
		}
		return r
	}
	all := one(1, "Get/size=1", "List", "Get/size=2", "Update")
	all.Take(one(2, "Get/size=1", "Get/size=3", "New"))
	all.Take(one(3, "New", "List"))

	var names []string
	for _, s := range all.Series {
		if s.Side == "typed" {
			names = append(names, fmt.Sprint(s.Name, s.Values("sec/op")))
		}
	}
	assert.Equal(t, []string{"Update[1]", "Get/size=1[2]", "Get/size=3[2]", "New[3]", "List[3]"}, names)
	assert.Equal(t, []Part{
		{Commit: "abc", Rounds: 2, CPU: "some", Benchmarks: []string{"Get"}},
		{Commit: "abc", Rounds: 3, CPU: "some", Benchmarks: []string{"New", "List"}},
	}, all.Later)
	path := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, all.Save(path))
	loaded, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, all, loaded)
}
