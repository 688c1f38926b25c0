package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// module makes a module with a package of tests in each of some folders. They may call failed,
// which returns how often it was called before with the same name in this folder.
func module(t *testing.T, packages map[string]string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	for name, tests := range packages {
		write(name+"/x_test.go", "package "+name+`

import (
	"os"
	"testing"
)

func before(name string) int {
	content, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(content, 'x'), 0o600); err != nil {
		panic(err)
	}
	return len(content)
}

`+tests)
	}
	t.Chdir(dir)
}

// rerun runs a command, and returns what was printed and the names of flaky tests.
func rerun(t *testing.T, command ...string) (output string, flaky string, err error) {
	t.Helper()
	var printed, errors bytes.Buffer
	r := rerunner{stdout: &printed, stderr: &errors, flaky: filepath.Join(t.TempDir(), "flaky")}
	err = r.run(t.Context(), command)
	content, readErr := os.ReadFile(r.flaky)
	if readErr != nil {
		require.ErrorIs(t, readErr, os.ErrNotExist)
	}
	return printed.String(), string(content), err
}

func TestFailedTestsRunAgain(t *testing.T) {
	module(t, map[string]string{
		"flaky": `
func TestOnce(t *testing.T) { t.Run("sub", func(t *testing.T) { if before("once") < 1 { t.Fatal("chance") } }) }

func TestGood(t *testing.T) { if before("good") > 0 { t.Fatal("it runs once only") } }

func TestBroken(t *testing.T) { t.Fatal("always") }
`,
		"died": `
func TestDied(*testing.T) { if before("died") < 1 { panic("chance") } }
`,
		"main": `
func TestGood(*testing.T) {}

func TestMain(m *testing.M) { code := m.Run(); if before("main") < 1 { code = 1 }; os.Exit(code) }
`,
	})
	output, flaky, err := rerun(t, "go", "test", "-vet=off", "./...")
	assert.EqualError(t, err, "failed 4 times: example.com/m/flaky.TestBroken")
	assert.Equal(t, 4, strings.Count(output, "--- FAIL: TestBroken"))
	assert.ElementsMatch(t, []string{
		"example.com/m/flaky.TestOnce (failed, then passed at try 1)",
		"example.com/m/died (failed, then passed at try 1)",
		"example.com/m/main (failed, then passed at try 1)",
	}, strings.Split(strings.TrimSpace(flaky), "\n"))
	assert.Contains(t, output, "\nFLAKY\nexample.com/m/flaky.TestOnce")
}

func TestBrokenBuildFailsAtOnce(t *testing.T) {
	module(t, map[string]string{"broken": "func TestBroken(t *testing.T) { none() }\n"})
	output, flaky, err := rerun(t, "go", "test", "./...")
	assert.ErrorContains(t, err, "go test ./...: exit status 1")
	assert.NotContains(t, output, "=== again")
	assert.Empty(t, flaky)
}

func TestParse(t *testing.T) {
	failures, final := parse("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n        x_test.go:1: x\nFAIL\nFAIL\tm/a\t0.1s\n" +
		"ok  \tm/b\t0.1s\n--- FAIL: TestC (0.00s)\npanic: c\nFAIL\tm/c\t0.1s\nFAIL\tm/d\t0.1s\nFAIL\n")
	assert.Empty(t, final)
	assert.Equal(t, []failure{{"m/a", "TestA"}, {"m/c", ""}, {"m/d", ""}}, failures)

	failures, final = parse("FAIL\tm/a [build failed]\n--- FAIL: TestB (0.00s)\nFAIL\tm/b\t0.1s\nFAIL\n")
	assert.Equal(t, "m/a", final)
	assert.Empty(t, failures)
}

func TestCommandOfATest(t *testing.T) {
	for original, want := range map[string]string{
		"go test ./...": "go test -run ^TestA$ -count=1 m/a",
		"go test -race -count=3 -timeout 20m ./... -seeds=3":       "go test -run ^TestA$ -count=1 -race -timeout 20m m/a -seeds=3",
		"go test -v ./a ./b -skip Long -run=X -simulation.seeds=2": "go test -run ^TestA$ -count=1 -v m/a -simulation.seeds=2",
	} {
		assert.Equal(t, want, strings.Join(failure{"m/a", "TestA"}.command(strings.Fields(original)), " "), original)
	}
	assert.Equal(t, "go test -count=1 -race -skip X m/a", strings.Join(failure{pkg: "m/a"}.command(strings.Fields("go test -race -skip X ./...")), " "))
}
