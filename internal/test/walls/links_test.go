package walls_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinksOfDocuments checks that each relative link and image of a document names a
// file or folder of the project, and each anchor a heading.
func TestLinksOfDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for document, text := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			if regexp.MustCompile(`^[a-z]+:`).MatchString(match[1]) {
				continue // another site
			}
			name, anchor, _ := strings.Cut(match[1], "#")
			target := document
			if name != "" {
				target = filepath.Join(filepath.Dir(document), filepath.FromSlash(name))
			}
			if _, err := os.Stat(filepath.Join(root, target)); !assert.NoError(t, err, "%s links to %s", document, match[1]) {
				continue
			}
			if anchor == "" || !assert.Equal(t, ".md", filepath.Ext(target), "%s links to %s: only pages have anchors", document, match[1]) {
				continue
			}
			page, err := os.ReadFile(filepath.Join(root, target))
			require.NoError(t, err)
			assert.Contains(t, anchorsOf(string(page)), anchor, "%s links to %s", document, match[1])
		}
	}
}

// documents returns the Markdown files that are written by hand, by their paths from the
// root.
func documents(t *testing.T) map[string]string {
	found := map[string]string{}
	read := func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		found[name] = string(text)
	}
	above, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, entry := range above {
		if filepath.Ext(entry.Name()) == ".md" {
			read(entry.Name())
		}
	}
	for _, folder := range []string{"docs", "benchmarks/results", "internal/test/mutants"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".md" {
				name, _ := filepath.Rel(root, path)
				read(name)
			}
			return err
		}))
	}
	return found
}

// fencedOrSpan is code in Markdown.
var fencedOrSpan = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

// withoutCode returns Markdown with a word in place of each piece of code.
func withoutCode(text string) string { return fencedOrSpan.ReplaceAllString(text, "Code") }

// anchorsOf returns the anchors that GitHub makes of the headings of a page.
func anchorsOf(page string) (anchors []string) {
	times := map[string]int{}
	page = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, "")
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		text := regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(heading[1], "")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, text)
		if n := times[anchor]; n > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			anchors = append(anchors, anchor)
		}
		times[anchor]++
	}
	return anchors
}

// TestAnchors checks anchors against those that GitHub makes.
func TestAnchors(t *testing.T) {
	page := "# One `Two`, three!\n```\n# code\n```\n## A [link](x.md)\n## A link\n"
	assert.Equal(t, []string{"one-two-three", "a-link", "a-link-1"}, anchorsOf(page))
}

// Words that pages may have, code included. Blocks that a program writes are left out, and the
// tables of reference pages, whose rows tests check against the code.
const (
	wordsOfREADME = 900
	wordsOfDocs   = 20_000
)

// TestLengthOfDocuments keeps pages short.
func TestLengthOfDocuments(t *testing.T) {
	inDocs := 0
	for document, text := range documents(t) {
		text = madeBlock.ReplaceAllString(text, "")
		if strings.HasPrefix(document, "docs/reference") {
			text = tableRow.ReplaceAllString(text, "")
		}
		words := len(strings.Fields(text))
		if document == "README.md" {
			assert.LessOrEqual(t, words, wordsOfREADME, document)
		}
		if strings.HasPrefix(document, "docs") {
			inDocs += words
		}
	}
	assert.LessOrEqual(t, inDocs, wordsOfDocs, "words of all pages in docs")
}

var (
	// madeBlock is a part of a page that a program writes.
	madeBlock = regexp.MustCompile(`(?s)<!-- made by .*?<!-- end -->`)
	tableRow  = regexp.MustCompile(`(?m)^\|.*$`)
)
