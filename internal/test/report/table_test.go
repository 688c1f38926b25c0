package report

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var table = Table{Head: []string{"what", "how many"}, Rows: [][]string{{"Pods", "20"}, {"ConfigMaps", "1,000"}}}

func TestMarkdown(t *testing.T) {
	assert.Equal(t, "| what | how many |\n|---|--:|\n| Pods | 20 |\n| ConfigMaps | 1,000 |\n", table.Markdown())
}

func TestWriteText(t *testing.T) {
	var text strings.Builder
	require.NoError(t, table.WriteText(&text))
	assert.Equal(t, "what        how many\nPods        20\nConfigMaps  1,000\n", text.String())
}

func TestWriteTextReturnsItsFailure(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	require.NoError(t, write.Close())
	assert.Error(t, table.WriteText(write))
}
