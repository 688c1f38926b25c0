package cachemutation_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
)

var dir, _ = filepath.Abs(filepath.Join("..", "testdata"))

// TestFindings runs the analyzer on programs with want comments.
func TestFindings(t *testing.T) {
	analysistest.Run(withoutFacts{t}, dir, cachemutation.Analyzer, "mutation/...", "planted/...", "knownbugs")
}

// TestFixes compares fixed programs with golden files.
func TestFixes(t *testing.T) {
	analysistest.RunWithSuggestedFixes(withoutFacts{t}, dir, cachemutation.Analyzer, "fixes")
}

// withoutFacts leaves out complaints about facts that no comment wants: most functions
// have one.
type withoutFacts struct{ *testing.T }

func (t withoutFacts) Errorf(format string, args ...any) {
	if !strings.Contains(format, "unexpected %s") && !strings.Contains(format, "unexpected fact") {
		t.T.Helper()
		t.T.Errorf(format, args...)
		return
	}
	for _, arg := range args {
		if arg == "fact" {
			return
		}
	}
	t.T.Errorf(format, args...)
}
