package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCommandRunsInAnyFolder of the module: it names the package, before the flags that go does
// not know.
func TestCommandRunsInAnyFolder(t *testing.T) {
	want := "go test -run '^TestCommandRunsInAnyFolder$/^of_a_test$' github.com/kubetyped/informer/apitest/simulation" +
		" -simulation.seed=17 -simulation.faults=none -simulation.acts=none"
	t.Run("of a test", func(t *testing.T) { assert.Equal(t, want, command(t, plan{seed: 17})) })
}
