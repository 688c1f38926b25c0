package walls_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// subjectsSince is when the rules for subjects of commits began to hold.
const subjectsSince = "2026-11-25T20:00:00Z"

// subjectRules are the wordings that subjects of commits avoid. The verb comes after the
// area: "queue: fix a lost wake-up".
var subjectRules = map[string]*regexp.Regexp{
	"C01, write a verb such as add, fix, return, test":    regexp.MustCompile(`(?i)(?:^|: )(?:have|let|tell|say|look|bring|leave|hold|put|do)\b`),
	"C02, write the noun":                                 regexp.MustCompile(`\b(?:what|who|whoever|nobody|somebody|told|tells?)\b`),
	"write area: verb object, with a package as the area": regexp.MustCompile(`^[^:]*$`),
}

// TestSubjects checks the subjects of commits.
func TestSubjects(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "log", "--no-merges", "--format=%h %s", "--since="+subjectsSince).Output()
	if err != nil {
		t.Skip("this is no clone of the project's repository: ", err)
	}
	// go test keeps results until a file changes that a test has read: without this one, they would
	// outlive a commit. A clone without reflogs has none.
	_, _ = os.ReadFile(filepath.Join(root, ".git", "logs", "HEAD"))
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		for instead, rule := range subjectRules {
			assert.NotRegexp(t, rule, subject, "%s: %s", hash, instead)
		}
	}
}

// TestSubjectRules checks the rules with subjects before and after.
func TestSubjectRules(t *testing.T) {
	breaks := func(subject string) bool {
		for _, rule := range subjectRules {
			if rule.MatchString(subject) {
				return true
			}
		}
		return false
	}
	for _, subject := range []string{"Say when parts go", "docs: say when parts go", "metrics: export what is shared", "Fix a lost wake-up"} {
		assert.True(t, breaks(subject), subject)
	}
	for _, subject := range []string{"queue: fix a lost wake-up", "docs: document when AddUntil removes parts", "typed/kube: test Traffic against bytes read"} {
		assert.False(t, breaks(subject), subject)
	}
}
