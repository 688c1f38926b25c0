package rig

import (
	"context"

	"github.com/kubetyped/informer/typed"
)

// Script is a source whose reports the test makes itself.
type Script struct {
	Started chan typed.Sink[*Thing] // the sink, when it is run
	Fail    chan error              // what it is to end with
}

// NewScript returns a script.
func NewScript() *Script {
	return &Script{Started: make(chan typed.Sink[*Thing], 1), Fail: make(chan error)}
}

// Run implements typed.Source.
func (s *Script) Run(ctx context.Context, sink typed.Sink[*Thing]) error {
	s.Started <- sink
	select {
	case err := <-s.Fail:
		return err
	case <-ctx.Done():
		return nil
	}
}
