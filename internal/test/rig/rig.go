package rig

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Rig is an informer over a script. Its sink is there once it runs.
type Rig struct {
	*typed.Informer[*Thing]
	T      *testing.T
	Script *Script // nil: the source is another one
	Sink   source.Sink[*Thing]
	Stop   context.CancelFunc
	Ended  chan error
}

// New returns an informer over a new script.
func New(t *testing.T, opts ...typed.Option) *Rig {
	s := NewScript()
	return Over(t, s, s, opts...)
}

// Over returns an informer over a source that is made of a script, if that is not
// nil.
func Over(t *testing.T, s *Script, src source.Source[*Thing], opts ...typed.Option) *Rig {
	return &Rig{T: t, Informer: typed.NewInformer(src, opts...), Script: s, Ended: make(chan error, 1)}
}

// Start runs the informer, and stops it when the test ends.
func (r *Rig) Start() { r.StartIn(context.Background()) }

// StartIn does so in a context.
func (r *Rig) StartIn(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	r.Stop = cancel
	go func() { r.Ended <- r.Run(ctx) }()
	if r.Script != nil {
		r.Sink = <-r.Script.Started
	}
	r.T.Cleanup(func() {
		cancel()
		<-r.Ended
		r.Ended <- nil
	})
}

// Record adds a recorder.
func (r *Rig) Record(opts ...typed.HandlerOption) *Recorder {
	rec := &Recorder{}
	reg, err := r.Handle(rec, opts...)
	require.NoError(r.T, err)
	rec.Registration = reg
	return rec
}

// InBubble runs a test in a new bubble: time stands still unless all goroutines wait, and
// synctest.Wait returns when nothing more can happen.
func InBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// IsClosed reports whether a channel is closed.
func IsClosed(c <-chan struct{}) bool {
	return monitor.IsClosed(c)
}
