package sinktest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// derived is a source without objects, from which others are derived.
type derived[T index.Object] struct{ running chan struct{} }

// Run implements source.Source.
func (d *derived[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	sink.Replace(source.List{Items: []source.Staged{source.LeaveOut()}}, "1")
	d.running <- struct{}{}
	<-ctx.Done()
	return nil
}

// DerivedFrom implements source.Derived.
func (*derived[T]) DerivedFrom() []source.Derived { return nil }

// Derives tests that a source which is made of another one leads to that, so that views find
// diamonds. With later, it has none before it runs.
func Derives[A, B index.Object](t *testing.T, later bool, wrap func(src source.Source[A]) source.Source[B]) {
	t.Helper()
	src := &derived[A]{make(chan struct{})}
	wrapped := wrap(src)
	of, ok := wrapped.(source.Derived)
	if !assert.True(t, ok, "it is derived") {
		return
	}
	assert.Equal(t, !later, leads(of, src), "before it runs")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- wrapped.Run(ctx, &Recorder[B]{}) }()
	select {
	case <-src.running:
		assert.True(t, leads(of, src), "as it runs")
		cancel()
		assert.NoError(t, <-ended)
	case err := <-ended:
		assert.Fail(t, "it has ended", err)
		cancel()
	}
}

// leads reports whether a way leads from one source to another.
func leads(from, to source.Derived) bool {
	return from == to || slices.ContainsFunc(from.DerivedFrom(), func(next source.Derived) bool { return leads(next, to) })
}
