package migrate_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/kubetyped/informer/cmd/internal/migrate"
)

// TestMigrate runs the analyzers on programs with want comments, and compares what
// their fixes make of them.
func TestMigrate(t *testing.T) {
	stubs, err := filepath.Abs(filepath.Join("..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range migrate.Analyzers {
		t.Run(a.Name, func(t *testing.T) { analysistest.RunWithSuggestedFixes(t, stubs, a, a.Name) })
	}
}
