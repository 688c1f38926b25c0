package rig

import (
	"context"

	"github.com/kubetyped/informer/typed/source"
)

// Bare is an object that has nothing but a name.
type Bare string

// GetName implements index.Object.
func (b Bare) GetName() string { return string(b) }

// GetNamespace implements index.Object.
func (Bare) GetNamespace() string { return "" }

// BareSource is a source that has nothing to report.
type BareSource struct{}

// Run implements source.Source.
func (BareSource) Run(context.Context, source.Sink[Bare]) error { return nil }
