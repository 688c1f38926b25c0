package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func document(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "document.md")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestReplaceLeavesTheRest(t *testing.T) {
	path := document(t, "# Title\n<!-- made by one -->\nold\n<!-- end -->\ntext\n<!-- made by two -->\nother\n<!-- end -->\nlast\n")
	require.NoError(t, Check(path, "two"))
	require.NoError(t, Replace(path, "two", "new\nlines\n"))
	require.NoError(t, Replace(path, "one", ""))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "# Title\n<!-- made by one -->\n<!-- end -->\ntext\n<!-- made by two -->\nnew\nlines\n<!-- end -->\nlast\n", string(content))
}

func TestReplaceNeedsAPlace(t *testing.T) {
	for _, content := range []string{
		"# Title\n",
		"<!-- made by other -->\n<!-- end -->\n",
		"<!-- end -->\n<!-- made by one -->\n",
	} {
		path := document(t, content)
		assert.ErrorContains(t, Check(path, "one"), `has no line "<!-- made by one -->"`)
		assert.Error(t, Replace(path, "one", "new\n"))
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(left))
	}
	assert.ErrorIs(t, Check(filepath.Join(t.TempDir(), "none.md"), "one"), os.ErrNotExist)
}
