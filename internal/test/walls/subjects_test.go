package walls_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// subjectsSince is the commit after which subjects of commits follow the rules.
const subjectsSince = "c54f2b9da2aaa91771eceda7bb9deab4a0aa2950"

// subjectRules are the wordings that subjects of commits avoid. The verb comes after the
// area: "queue: fix a lost wake-up".
var subjectRules = map[string]*regexp.Regexp{
	"C01, write a verb such as add, fix, return, test":    regexp.MustCompile(`(?i)(?:^|: )(?:have|let|tell|say|look|bring|leave|hold|put|do)\b`),
	"C02, write the noun":                                 regexp.MustCompile(`\b(?:what|who|whoever|nobody|somebody|told|tells?)\b`),
	"write area: verb object, with a package as the area": regexp.MustCompile(`^[^:]*$`),
}

// TestSubjects checks the subjects of commits.
func TestSubjects(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		return string(out), err
	}
	if _, err := git("merge-base", "--is-ancestor", subjectsSince, "HEAD"); err != nil {
		t.Skip("this is no clone with the history of the project: ", err)
	}
	out, err := git("log", "--no-merges", "--format=%h %s", subjectsSince+"..HEAD")
	assert.NoError(t, err)
	for line := range strings.Lines(out) {
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
