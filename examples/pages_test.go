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

var root = ".."

// TestCodeOfPages looks for every piece of Go code of README and docs in the file or folder
// that the last "<!-- code: path -->" before it names, which the tests compile.
func TestCodeOfPages(t *testing.T) {
	marks := regexp.MustCompile("(?ms)^<!-- code: (\\S+) -->$|^```go\n(.*?)^```")
	for name, page := range pages(t) {
		folder, code := "", ""
		for _, match := range marks.FindAllStringSubmatch(page, -1) {
			if match[1] != "" {
				folder, code = match[1], codeBelow(t, filepath.Join(root, filepath.FromSlash(match[1])))
				continue
			}
			require.NotEmpty(t, code, "%s: name the code before the first piece of it, as <!-- code: examples/podcount -->", name)
			assert.True(t, strings.Contains(code, withoutIndent(match[2])), "%s: the code of %s does not contain\n%s", name, folder, match[2])
		}
	}
}

// TestPagesNameAllExamples looks for every program in the pages.
func TestPagesNameAllExamples(t *testing.T) {
	var all strings.Builder
	for _, page := range pages(t) {
		all.WriteString(page)
	}
	folders, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, folder := range folders {
		if folder.IsDir() && folder.Name() != "internal" {
			assert.Regexp(t, `\((?:\.\./)*examples/`+folder.Name()+`\b`, all.String(), folder.Name())
		}
	}
}

// pages returns README and docs by their names.
func pages(t *testing.T) map[string]string {
	all := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all[path] = string(text)
	}
	read(filepath.Join(root, "README.md"))
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			read(path)
		}
		return err
	}))
	return all
}

// codeBelow returns the Go code of a file, or of a folder and those below it.
func codeBelow(t *testing.T, path string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(path, func(path string, file os.DirEntry, err error) error {
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
