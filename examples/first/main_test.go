package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeHasTheProgram: what is compiled here is what the README shows.
func TestReadmeHasTheProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, program, found := strings.Cut(string(source), "package main\n")
	require.True(t, found)
	assert.Contains(t, string(readme), "```go\npackage main\n"+program+"```\n")
}
