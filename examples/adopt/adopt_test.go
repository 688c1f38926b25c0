// Package adopt compares the programs in before and after.
package adopt

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOneLineIsDifferent compares the code below the comment that says what the
// program is.
func TestOneLineIsDifferent(t *testing.T) {
	before, after := code(t, "before"), code(t, "after")
	assert.Equal(t, []string{`	"k8s.io/client-go/informers"`}, without(before, after))
	assert.Equal(t, []string{`	"github.com/kubetyped/informer/adapters/informers"`}, without(after, before))
	isImport := func(line string) bool { return strings.HasSuffix(line, `/informers"`) }
	assert.Equal(t, slices.DeleteFunc(before, isImport), slices.DeleteFunc(after, isImport), "in the same order")
}

// without returns the lines that are not among others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// code returns the lines of a program, from its package clause.
func code(t *testing.T, program string) []string {
	text, err := os.ReadFile(filepath.Join(program, "main.go"))
	require.NoError(t, err)
	_, code, found := strings.Cut(string(text), "package main")
	require.True(t, found)
	return strings.Split(code, "\n")
}

func TestBothPrintTheSame(t *testing.T) {
	const want = `600 Pods
  150 on node-0
  150 on node-1
  150 on node-2
  150 on node-3
node-0 was drained
450 Pods
  150 on node-1
  150 on node-2
  150 on node-3
`
	for _, program := range []string{"before", "after"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "go", "run", "./"+program)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			require.NoError(t, err)
			assert.Equal(t, want, string(out))
		})
	}
}
