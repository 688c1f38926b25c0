package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCodeOfTheTutorial looks for every piece of Go code of a chapter of
// docs/tutorial/first-informer.md in the program that the chapter is about.
func TestCodeOfTheTutorial(t *testing.T) {
	tutorial, err := os.ReadFile(filepath.Join("..", "docs", "tutorial", "first-informer.md"))
	require.NoError(t, err)
	program := regexp.MustCompile(`\((?:\.\./)+examples/(\w+)`)
	for _, chapter := range strings.Split(string(tutorial), "\n## ")[1:] {
		title, _, _ := strings.Cut(chapter, "\n")
		t.Run(title, func(t *testing.T) {
			pieces := fenced.FindAllStringSubmatch(chapter, -1)
			if len(pieces) == 0 {
				return
			}
			about := program.FindStringSubmatch(chapter)
			require.NotNil(t, about, "which program is it about?")
			code := codeBelow(t, about[1])
			for _, piece := range pieces {
				assert.Contains(t, code, withoutIndent(piece[1]))
			}
		})
	}
}

// TestCodeOfPages does the same with pages that are about one program.
func TestCodeOfPages(t *testing.T) {
	for page, folder := range map[string]string{"how-to/views.md": "views", "explanation/sharding.md": "sharded", "how-to/observe.md": "operate"} {
		text, err := os.ReadFile(filepath.Join("..", "docs", page))
		require.NoError(t, err)
		pieces := fenced.FindAllStringSubmatch(string(text), -1)
		assert.NotEmpty(t, pieces, page)
		code := codeBelow(t, folder)
		for _, piece := range pieces {
			assert.Contains(t, code, withoutIndent(piece[1]), page)
		}
	}
}

// fenced is a piece of Go code in a page.
var fenced = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestTutorialHasAllExamples looks for every program in docs/tutorial/first-informer.md.
func TestTutorialHasAllExamples(t *testing.T) {
	tutorial, err := os.ReadFile(filepath.Join("..", "docs", "tutorial", "first-informer.md"))
	require.NoError(t, err)
	folders, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, folder := range folders {
		if folder.IsDir() && folder.Name() != "internal" {
			assert.True(t, strings.Contains(string(tutorial), "(../../examples/"+folder.Name()), folder.Name())
		}
	}
}

// codeBelow returns the Go code of a folder and those below it.
func codeBelow(t *testing.T, folder string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(folder, func(path string, file os.DirEntry, err error) error {
		if err != nil || file.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		code, err := os.ReadFile(path)
		all.WriteString(withoutIndent(string(code)))
		return err
	}))
	return all.String()
}

// withoutIndent returns code without the white space at the beginning of lines.
func withoutIndent(code string) string {
	lines := strings.Split(code, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
