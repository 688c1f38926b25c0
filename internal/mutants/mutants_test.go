package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// TestMutationsAreStillThere applies all of them.
func TestMutationsAreStillThere(t *testing.T) {
	bugs := map[string]bool{}
	for _, m := range all() {
		text, err := m.apply(root)
		if !assert.NoError(t, err) {
			continue
		}
		_, err = parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution)
		assert.NoError(t, err, m.bug)
		assert.False(t, bugs[m.bug], "%q is there twice", m.bug)
		bugs[m.bug] = true
		assert.DirExists(t, filepath.Join(root, m.suite.folder))
	}
	assert.GreaterOrEqual(t, len(bugs), 30)
}

func TestApplyFailsUnlessTheTextIsThereOnce(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.go"), []byte("package a\nvar x, y = 1, 1\n"), 0o600))
	m := mutation{bug: "two", file: "a.go", old: "1, 1", new: "1, 2"}
	text, err := m.apply(folder)
	require.NoError(t, err)
	assert.Equal(t, "package a\nvar x, y = 1, 2\n", text)
	m.old = "1"
	_, err = m.apply(folder)
	assert.ErrorContains(t, err, "is 2 times in a.go")
	m.old = "3"
	_, err = m.apply(folder)
	assert.ErrorContains(t, err, "is 0 times in a.go")
	m.file = "b.go"
	_, err = m.apply(folder)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadOutput(t *testing.T) {
	for _, c := range []struct {
		name, output string
		seeds        int
		check        string
	}{
		{"a check of the test", "    run.go:1: simulation: seed 12: all is well, after 1m2.5s: it is not\nIt takes 1 of 2 faults", 12, "all is well"},
		{"a check of a process", "simulation: seed 3: told in order (informer#14), after 1h0m1s: no", 3, "told in order"},
		{"two workers", "simulation: seed 9: a, after 1s: no\nsimulation: seed 8: b, after 1s: no", 8, "b"},
		{"a clock that stands still", "panic: simulation: seed 7: nothing has happened for 1m0s. The clock", 7, "the clock stands still"},
		{"a panic", "simulation: 20 seeds in 1s\npanic: index out of range [recovered]\n\ngoroutine 1", unknown, "panic: index out of range"},
		{"nothing", "FAIL", unknown, "the program ends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mutation{}.read(c.output)
			assert.Equal(t, c.seeds, v.seeds)
			assert.Equal(t, c.check, v.check)
		})
	}
}

func TestUpdateKeepsRowsOfWhatWasNotRun(t *testing.T) {
	document := filepath.Join(t.TempDir(), "reliability.md")
	require.NoError(t, os.WriteFile(document, []byte("# Before\n<!-- made by internal/mutants -->\n<!-- end -->\nAfter\n"), 0o600))
	first, second := verdict{mutation: all()[0], seeds: 3, check: "one"}, verdict{mutation: all()[1], seeds: 4, check: "two"}
	require.NoError(t, update(document, [][]string{second.row(10)}))
	second.seeds = 0
	require.NoError(t, update(document, [][]string{first.row(10)}))
	require.NoError(t, update(document, [][]string{second.row(10), {"what is no mutation any more", "1", "x", "y"}}))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Equal(t, "# Before\n<!-- made by internal/mutants -->\n"+
		table([][]string{first.row(10), second.row(10)}).Markdown()+"<!-- end -->\nAfter\n", string(text))
}
