package tracing_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocs compares the table of docs/reference/spans.md with the attributes of the code.
func TestDocs(t *testing.T) {
	source, err := os.ReadFile("attributes.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/reference/spans.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| attribute | of |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	assert.ElementsMatch(t, find(string(source), `attribute\.Key\("([^"]+)"\)`), find(table, "`((?:k8s|kubetyped)[^`]+)`"))
}

// find returns what a regular expression finds, each once.
func find(in, expression string) (found []string) {
	for _, match := range regexp.MustCompile(expression).FindAllStringSubmatch(in, -1) {
		found = append(found, match[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}
