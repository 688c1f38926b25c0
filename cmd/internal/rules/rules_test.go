package rules_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/kubetyped/informer/cmd/internal/rules"
)

var stubs, _ = filepath.Abs(filepath.Join("..", "testdata"))

// TestRules runs all rules on programs with want comments: each has a package of its
// name, in which no other one finds anything.
func TestRules(t *testing.T) {
	all := &analysis.Analyzer{Name: "all", Doc: "all rules", Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range rules.Analyzers {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	packages := []string{"queueforgets", "queueadds"}
	for _, a := range rules.Analyzers {
		packages = append(packages, a.Name)
		if a.Name == "blockinghandler" {
			if err := a.Flags.Set("writes", "true"); err != nil {
				t.Fatal(err)
			}
		}
	}
	analysistest.Run(t, stubs, all, packages...)
}

// TestFixes: what the fixes of rules make of programs.
func TestFixes(t *testing.T) {
	for _, a := range rules.Fixing {
		analysistest.RunWithSuggestedFixes(t, stubs, a, a.Name)
	}
}
