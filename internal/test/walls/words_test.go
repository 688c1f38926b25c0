package walls_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	updateWords = flag.Bool("words.update", false, "write testdata/words.txt")
	showWords   = flag.String("words.show", "", "print what matches, of a `rule` such as W03, or all")
)

// rule is a pattern of words to avoid.
type rule struct {
	name, pattern string
	instead       string
	areas         []area // those in which it holds
}

// area is a kind of text.
type area string

const (
	readme   area = "README"
	pages    area = "docs"
	exported area = "exported" // doc comments that go doc shows
	comments area = "comments" // all others of the production code
	checks   area = "checks"   // comments of tests, suites and benchmarks
	messages area = "messages" // texts of errors and logs
	tests    area = "tests"    // names of tests
)

var texts = []area{readme, pages, exported, comments, checks, messages}

// rules are the wordings that readers stumble over. To write one on purpose, put
// "<!-- words: W09 reason -->" or "//words:W09 reason" on the line before.
var rules = []rule{
	{"W01", `\b(?:of|by|for|with|from|to|than|in|at|on|about|and|but) what (?:is|are|was|were|has|have|had|comes|came|goes|does|can|cannot|needs|they|it|we|you|somebody|nobody|others|there)\b`, "the noun", texts},
	{"W02", `(?:^ ?|[.;:] )What (?:is|are|was|were|has|have|comes|came|it|they|somebody|all|the|others|a)\b[^?]*$`, "the noun", texts},
	{"W03", `\b[Tt](?:ells?|old|elling)\b`, "return, report, log, show, say", texts},
	{"W04", `\b(?:lets?|letting) go\b`, "release, free", texts},
	{"W05", `\bone's own\b|\bof (?:your|its|their|our|his) own\b`, "your own X, its own X, custom", texts},
	{"W06", `(?i)\bequal (?:parts?|ones)\b|\bparts? (?:of (?:objects|them) )?once\b|\bshares? (?:no )?parts\b|\bkept once\b`, "deduplicate", texts},
	{"W07", `\b[Ww]hoever\b|(?:^ ?|[.;] )Who [a-z]+s?\b|\b(?:the one|those|all|others|people) who\b`, "a caller, a reader, code that", texts},
	{"W08", `\b(?:in|takes?|took|taken|taking) the place of\b|\bin that of\b`, "instead of, replaces", texts},
	{"W09", `\b[Bb]eside\b`, "with, next to, compared with", texts},
	{"W10", `\b(?:[Ss]ome|[Aa]ny|[Ee]very|[Nn]o)body\b`, "the actor's name", texts},
	{"W12", `\b(?:anew|seldom|likewise|bearable|as ever|mend(?:s|ed)?|fares?|heeds?|makes no sense|with success)\b`, "again, rarely, fix, state", texts},
	{"W13", `\bsome (?:\d|ten|hundreds?|half|twenty|five|fifty)`, "about", texts},
	{"W14", `\balso (?:if|when|where|by|from|before|after|one|those|not)\b`, "even if, including", texts},
	{"W15", `\bbut (?:for|that of|by)\b`, "except", texts},
	{"W16", `(?:^|[^-\w])(?:go(?:es|ing)? on|went on)\b`, "continue, keep", texts},
	{"W17", `\bunder way\b`, "in progress, in flight", texts},
	{"W18", `^ ?(?:Package )?\[?[A-Za-z.]+\]? has (?:a|an|the|f|its|each|what|it|every|all|[a-z]+s)\b`, "sets, adds, runs, contains", texts},
	{"W19", `;[^.;|]{3,};`, "a full stop", texts},
	{"E01", `^(?:it|its|they|there|that|this)\b`, "a noun", []area{messages}},
	{"E02", `^(?:the|an?) [\w' ]+ is nil$`, "Option: name is nil", []area{messages}},
	{"T01", `^(?:Test|Fuzz|Benchmark|Example)\w*(?:What|Who[A-Z]|Nobody|Somebody|Anybody|Told|Tells?(?:[A-Z]|$))`, "TestSubjectVerbsObject", []area{tests}},
	{"T02", `CannotBe|That(?:Is|Are|Was|Has|Have|Were)(?:[A-Z]|$)`, "TestSubjectVerbsObject", []area{tests}},
}

// paragraph is text to look at.
type paragraph struct {
	area    area
	where   string // file and line
	text    string
	allowed []string // rules that do not hold in it
}

// TestWords counts the wordings to avoid, by rule and area, and compares the counts with
// testdata/words.txt. A count that rises is a wording to change. One that falls is to be
// written down: run the test with -words.update.
func TestWords(t *testing.T) {
	counts := map[string]int{}
	for _, p := range slices.Concat(paragraphsOfDocuments(t), paragraphsOfCode(t)) {
		for _, r := range compiled {
			if !slices.Contains(r.areas, p.area) || slices.Contains(p.allowed, r.name) {
				continue
			}
			found := r.expression.FindAllString(p.text, -1)
			counts[r.name+" "+string(p.area)] += len(found)
			if len(found) > 0 && (*showWords == r.name || *showWords == "all") {
				t.Logf("%s: %s %s: %q, write %s: %s", p.where, p.area, r.name, found, r.instead, p.text)
			}
		}
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s %d\n", key, counts[key]))
	}
	path := filepath.Join("testdata", "words.txt")
	if *updateWords {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), strings.Join(lines, ""),
		"lines are rule, area and count; -words.show RULE prints the places; if counts fell, run with -words.update")
}

type compiledRule struct {
	rule
	expression *regexp.Regexp
}

var compiled = func() (all []compiledRule) {
	for _, r := range rules {
		all = append(all, compiledRule{r, regexp.MustCompile(r.pattern)})
	}
	return all
}()

// TestRules checks each rule with a sentence that it is to find, and exceptions.
func TestRules(t *testing.T) {
	for name, text := range map[string]string{
		"W01": "a list of what is there", "W02": "What has come is kept.", "W03": "Status tells why", "W04": "it lets go of it", "W05": "a struct of your own",
		"W06": "it keeps equal parts", "W07": "Whoever asks gets it", "W08": "in the place of it", "W09": "beside it", "W10": "nobody waits", "W12": "made anew",
		"W13": "some 40 bytes", "W14": "also if it fails", "W15": "all but for one", "W16": "it goes on", "W17": "calls under way", "W18": "WithX has the loop run",
		"W19": "one; two and; three", "E01": "it is nil", "E02": "the handler is nil", "T01": "TestWhatIsLeft", "T02": "TestFieldsThatCannotBe",
	} {
		i := slices.IndexFunc(compiled, func(r compiledRule) bool { return r.name == name })
		require.GreaterOrEqual(t, i, 0, name)
		assert.Regexp(t, compiled[i].expression, text, name)
	}
	assert.Len(t, rules, 22, "each rule has a sentence above")

	found := splitMarkdown("p.md", pages, "One `two what is`\nthree [four](what.md).\n\n<!-- words: W09 a name -->\nBeside.\n\n- five\n- six\n\n```\ncode\n```\n")
	assert.Equal(t, []paragraph{
		{pages, "p.md:1", "One Code three [four].", nil}, {pages, "p.md:5", "Beside.", []string{"W09"}},
		{pages, "p.md:7", "- five", nil}, {pages, "p.md:8", "- six", nil},
	}, found)
}

// paragraphsOfDocuments returns the text of README and docs.
func paragraphsOfDocuments(t *testing.T) (all []paragraph) {
	for name, text := range documents(t) {
		switch {
		case name == "README.md":
			all = append(all, splitMarkdown(name, readme, text)...)
		case strings.Contains(name, string(filepath.Separator)):
			all = append(all, splitMarkdown(name, pages, text)...)
		}
	}
	return all
}

var (
	exception = regexp.MustCompile(`^<!-- words: ([WET]\d\d) \S.* -->$`)
	target    = regexp.MustCompile(`\]\([^)]*\)`)
	itemOrRow = regexp.MustCompile(`^\s*(?:[-*|>#]|\d+\.) ?`)
)

// splitMarkdown returns the paragraphs of a page, without code, targets of links and
// blocks that programs make. An item of a list or a row of a table is one.
func splitMarkdown(name string, of area, text string) (all []paragraph) {
	keepLines := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	text = madeBlock.ReplaceAllStringFunc(text, keepLines)
	text = fencedOrSpan.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "```") {
			return keepLines(s)
		}
		return "Code"
	})
	var current paragraph
	var allowed []string
	end := func() {
		if current.text != "" {
			all = append(all, current)
			allowed = nil
		}
		current = paragraph{}
	}
	for i, line := range strings.Split(text, "\n") {
		if match := exception.FindStringSubmatch(line); match != nil {
			end()
			allowed = append(allowed, match[1])
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "    ") || itemOrRow.MatchString(line) {
			end()
		}
		line = strings.TrimSpace(target.ReplaceAllString(line, "]"))
		if line == "" {
			continue
		}
		if current.text == "" {
			current = paragraph{of, fmt.Sprintf("%s:%d", name, i+1), line, allowed}
		} else {
			current.text += " " + line
		}
	}
	end()
	return all
}
