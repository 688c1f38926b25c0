// Package vet lists the analyzers of informervet.
package vet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
	"github.com/kubetyped/informer/cmd/internal/rules"
)

// Analyzers are those of informervet.
var Analyzers = append([]*analysis.Analyzer{
	cachemutation.Analyzer,
}, rules.Analyzers...)
