package rig

import (
	"context"

	"github.com/kubetyped/informer/typed/source"
)

// Bare is an object that has nothing but a name.
type Bare string

func (b Bare) GetName() string    { return string(b) }
func (Bare) GetNamespace() string { return "" }

// BareSource is a source that has nothing to report.
type BareSource struct{}

// Run implements source.Source.
func (BareSource) Run(context.Context, source.Sink[Bare]) error { return nil }
