// Package golangci is informervet as a module plugin of golangci-lint. Its .custom-gcl.yml:
//
//	plugins:
//	  - module: github.com/kubetyped/informer/cmd
//	    import: github.com/kubetyped/informer/cmd/golangci
//
// and its .golangci.yml, with the analyzers that do not run:
//
//	linters:
//	  settings:
//	    custom:
//	      informervet: {type: module, settings: {disable: [blockinghandler]}}
package golangci

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/vet"
)

func init() { register.Plugin("informervet", New) }

type settings struct {
	Disable []string `json:"disable"`
}

// New returns the plugin, or an error if its settings name an analyzer that does not exist.
func New(conf any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[settings](conf)
	if err != nil {
		return nil, fmt.Errorf("the settings of informervet: %w", err)
	}
	for _, name := range s.Disable {
		if !slices.ContainsFunc(vet.Analyzers, func(a *analysis.Analyzer) bool { return a.Name == name }) {
			return nil, fmt.Errorf("the settings of informervet disable %s, which is no analyzer: informervet help lists them", name)
		}
	}
	return plugin(s), nil
}

type plugin settings

// BuildAnalyzers implements register.LinterPlugin.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return slices.DeleteFunc(slices.Clone(vet.Analyzers), func(a *analysis.Analyzer) bool {
		return slices.Contains(p.Disable, a.Name)
	}), nil
}

// GetLoadMode implements register.LinterPlugin.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
