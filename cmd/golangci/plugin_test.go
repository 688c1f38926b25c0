package golangci_test

import (
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"

	_ "github.com/kubetyped/informer/cmd/golangci"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

// TestPlugin: golangci-lint finds the plugin by its name, and gets the analyzers.
func TestPlugin(t *testing.T) {
	build, err := register.GetPlugin("informervet")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		conf any
		want int
		err  string
	}{
		{nil, len(vet.Analyzers), ""},
		{map[string]any{"disable": []string{"tombstone"}}, len(vet.Analyzers) - 1, ""},
		{map[string]any{"disable": []string{"nothing"}}, 0, "disable nothing"},
		{map[string]any{"other": true}, 0, "settings of informervet"},
	} {
		plugin, err := build(test.conf)
		if err != nil {
			if test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v: %v", test.conf, err)
			}
			continue
		}
		analyzers, err := plugin.BuildAnalyzers()
		if err != nil || test.err != "" || len(analyzers) != test.want || plugin.GetLoadMode() != register.LoadModeTypesInfo {
			t.Errorf("%v: %d analyzers, %v", test.conf, len(analyzers), err)
		}
	}
}
