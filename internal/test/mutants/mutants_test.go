package main

import (
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the folder of the module.
var root = filepath.Join("..", "..", "..")

// TestMutations checks that each bug can be put in. Another stage checks that it is found.
func TestMutations(t *testing.T) {
	bugs, names := map[string]bool{}, packageNames{}
	functions := functionsOf(root)
	for _, m := range all() {
		assert.False(t, bugs[m.bug], "%q is there twice", m.bug)
		bugs[m.bug] = true
		assert.NotEqual(t, m.old, m.new, m.bug)
		assert.DirExists(t, filepath.Join(root, m.suite.folder))
		if f, err := functions.find(m.in); assert.NoError(t, err, m.bug) {
			changed, err := m.apply(f)
			assert.NoError(t, err)
			file := f.src[:f.start] + changed + f.src[f.end:]
			assert.Empty(t, names.unknown(t, filepath.Dir(f.path), file), "%s: names that its file does not know", m.bug)
		}
	}
	assert.GreaterOrEqual(t, len(bugs), 30)
}

// packageNames keeps the names that packages declare outside of functions, by folder.
type packageNames map[string]map[string]bool

// unknown returns the names in a file of a package that are neither declared in the package
// nor imported by the file: a mutation that uses one does not compile, and no other can be run
// then either.
func (p packageNames) unknown(t *testing.T, folder, text string) (unknown []string) {
	t.Helper()
	known := p[folder]
	if known == nil {
		known = declared(t, folder)
		p[folder] = known
	}
	file, err := parser.ParseFile(token.NewFileSet(), "mutated.go", text, 0)
	require.NoError(t, err)
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		name := path.Base(majorVersion.ReplaceAllString(strings.Trim(spec.Path.Value, `"`), ""))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = true
	}
	for _, name := range file.Unresolved {
		if !known[name.Name] && !imported[name.Name] && types.Universe.Lookup(name.Name) == nil {
			unknown = append(unknown, name.Name)
		}
	}
	return unknown
}

// majorVersion is the end of an import path that is no part of the package's name.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// declared returns the names that the files of a package declare outside of functions.
func declared(t *testing.T, folder string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for name := range file.Scope.Objects {
			known[name] = true
		}
	}
	return known
}

// TestUnknownNames: an import that a mutation needs has to be in the file of its function.
func TestUnknownNames(t *testing.T) {
	folder := module(t, map[string]string{
		"one.go": "package a\n\nimport \"example.com/b\"\n\nfunc f(s string) int { return len(s) + b.N + n }\n",
		"two.go": "package a\n\nimport \"example.com/c\"\n\nconst n = c.N\n",
	})
	text, err := os.ReadFile(filepath.Join(folder, "one.go"))
	require.NoError(t, err)
	names := packageNames{}
	assert.Empty(t, names.unknown(t, folder, string(text)))
	assert.Equal(t, []string{"c", "m"}, names.unknown(t, folder, strings.Replace(string(text), "b.N", "c.N + m", 1)))
}

// module writes files, by path, to a folder that it returns.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for path, text := range files {
		path = filepath.Join(folder, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

func TestFunctionsAreFoundInAnyFile(t *testing.T) {
	functions := functionsOf(module(t, map[string]string{
		"a/one.go":      "package a\n\nfunc f() {}\n",
		"a/two.go":      "package a\n\nfunc (s *s[K, V]) f() int {\n\treturn 1\n}\n\nfunc (s) g() {}",
		"a/two_test.go": "package a\n\nfunc f() {}\n",
		"a/b/c.go":      "package b\n\nfunc f() { f() }\n",
	}))
	for in, want := range map[string]string{
		"a.f":   "func f() {}\n",
		"a.s.f": "func (s *s[K, V]) f() int {\n\treturn 1\n}\n",
		"a.s.g": "func (s) g() {}",
		"a/b.f": "func f() { f() }\n",
	} {
		f, err := functions.find(in)
		if assert.NoError(t, err, in) {
			assert.Equal(t, want, f.text())
		}
	}
	f, err := functions.find("a.s.f")
	require.NoError(t, err)
	assert.Equal(t, "func (s *s[K, V]) fX() int {\n\treturn 1\n}\n", f.renamed(f.text(), "X"))
	_, err = functions.find("a.g")
	assert.ErrorContains(t, err, "package a has 0 functions g")
	_, err = functions.find("x.g")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLocateFailsUnlessTheTextIsThereOnce(t *testing.T) {
	folder := module(t, map[string]string{"a/a.go": "package a\n\nvar x = 1\n\nfunc f() (int, int) {\n\treturn 1, 1\n}\n"})
	m := mutation{bug: "two", in: "a.f", old: "1, 1", new: "1, 2"}
	found, err := locate(folder, []mutation{m})
	require.NoError(t, err)
	text, err := copies(found[filepath.Join(folder, "a/a.go")])
	require.NoError(t, err)
	assert.Equal(t, "package a\n\nvar x = 1\n\nfunc f() (int, int) { if mutantNumber == \"1\" { return fmutant1() }; \n\treturn 1, 1\n}\n"+
		"\nfunc fmutant1() (int, int) {\n\treturn 1, 2\n}\n", text)
	twice, never, nowhere := m, m, m
	twice.old, never.old, nowhere.in = "1", "x = 1", "a.g"
	_, err = locate(folder, []mutation{m, twice, never, nowhere})
	assert.ErrorContains(t, err, "is 2 times in a.f")
	assert.ErrorContains(t, err, "is 0 times in a.f")
	assert.ErrorContains(t, err, "0 functions g")
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

func TestUpdateKeepsRowsOfOtherRuns(t *testing.T) {
	document := filepath.Join(t.TempDir(), "reliability.md")
	require.NoError(t, os.WriteFile(document, []byte("# Before\n<!-- made by internal/test/mutants -update -->\n<!-- end -->\n"+
		"<!-- made by internal/test/mutants -->\n<!-- end -->\nAfter\n"), 0o600))
	first, second := verdict{mutation: all()[0], seeds: 3, check: "one"}, verdict{mutation: all()[1], seeds: 4, check: "two"}
	require.NoError(t, update(document, [][]string{second.row(10)}))
	second.seeds = 0
	require.NoError(t, update(document, [][]string{first.row(10)}))
	require.NoError(t, update(document, [][]string{second.row(10), {"a bug that was removed", "1", "x", "y"}}))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	room, _ := splitName(first.in)
	assert.Equal(t, "# Before\n<!-- made by internal/test/mutants -update -->\n"+
		scores(map[string]*score{room: {bugs: 2, found: 1}}).Markdown()+"<!-- end -->\n<!-- made by internal/test/mutants -->\n"+
		table([][]string{first.row(10), second.row(10)}).Markdown()+"<!-- end -->\nAfter\n", string(text))
}
