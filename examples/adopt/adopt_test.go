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
// program is. An import is needed besides, which editors add.
func TestOneLineIsDifferent(t *testing.T) {
	before, after := code(t, "before"), code(t, "after")
	after = slices.DeleteFunc(after, func(line string) bool {
		return line == `	"github.com/kubetyped/informer/adapters"`
	})
	require.Len(t, after, len(before))
	var changed [][2]string
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, [2]string{before[i], after[i]})
		}
	}
	require.Len(t, changed, 1)
	assert.Equal(t, strings.Replace(changed[0][0], "cache.", "adapters.", 1), changed[0][1])
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
