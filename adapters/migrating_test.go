package adapters_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCodeOfTheGuideCompiles looks for every piece of Go code of
// docs/how-to/adopt-client-go.md in the examples of this package.
func TestCodeOfTheGuideCompiles(t *testing.T) {
	guide, err := os.ReadFile("../docs/how-to/adopt-client-go.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("example_migrating_test.go")
	require.NoError(t, err)
	compiled := withoutIndent(string(examples))
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	require.NotEmpty(t, pieces)
	for _, piece := range pieces {
		assert.Contains(t, compiled, withoutIndent(piece[1]))
	}
}

// withoutIndent returns code without the white space at the beginning of lines.
func withoutIndent(code string) string {
	lines := strings.Split(code, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
