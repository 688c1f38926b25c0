// Package vet lists the analyzers of informervet.
package vet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
)

// Analyzers are those of informervet.
var Analyzers = []*analysis.Analyzer{
	cachemutation.Analyzer,
}
