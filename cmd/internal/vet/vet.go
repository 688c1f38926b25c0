// Package vet lists the analyzers of informervet and informerfix.
package vet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
	"github.com/kubetyped/informer/cmd/internal/driver"
	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/migrate"
	"github.com/kubetyped/informer/cmd/internal/rules"
)

// Analyzers are those of informervet.
var Analyzers = append([]*analysis.Analyzer{
	cachemutation.Analyzer,
}, rules.Analyzers...)

// Informervet checks programs.
var Informervet = driver.Tool{
	Name: "informervet",
	Usage: `informervet checks programs with informers of client-go, controller-runtime or
github.com/kubetyped/informer.

	informervet ./...                            check packages
	informervet -fix ./...                       and apply fixes; -fix -diff prints them
	go vet -vettool=$(which informervet) ./...   the same from the go command
	informervet help cachemutation               the page of an analyzer

Flags:
`,
	Analyzers: Analyzers,
}

// Informerfix changes programs.
var Informerfix = driver.Tool{
	Name: "informerfix",
	Usage: `informerfix moves programs from client-go's informers to those of
github.com/kubetyped/informer, which go.mod has to require.

	informerfix ./...                            print what can change, and what stays
	informerfix -fix ./...                       change it; -fix -diff prints the changes
	go fix -fixtool=$(which informerfix) ./...   the same from the go command
	informerfix help handlers                    the page of an analyzer

Flags:
`,
	Analyzers: append(append([]*analysis.Analyzer(nil), migrate.Analyzers...), rules.Fixing...),
	Module:    kube.Typed,
}
