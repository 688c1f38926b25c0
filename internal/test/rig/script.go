package rig

import (
	"context"

	"github.com/kubetyped/informer/typed/source"
)

// Script is a source whose reports the test makes itself.
type Script struct {
	Started chan source.Sink[*Thing] // the sink, when it is run
	Fail    chan error               // what it is to end with
}

// NewScript returns a script.
func NewScript() *Script {
	return &Script{Started: make(chan source.Sink[*Thing], 1), Fail: make(chan error)}
}

// Run implements source.Source.
func (s *Script) Run(ctx context.Context, sink source.Sink[*Thing]) error {
	s.Started <- sink
	select {
	case err := <-s.Fail:
		return err
	case <-ctx.Done():
		return nil
	}
}
