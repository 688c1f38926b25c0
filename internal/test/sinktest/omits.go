package sinktest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// labels is the field that a partial source leaves out.
const (
	labels  = "metadata.labels"
	leftOut = "omits " + labels
)

// partial is a source without objects that leaves labels out.
type partial[T index.Object] struct{ running chan struct{} }

// Run implements source.Source.
func (p partial[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	sink.Replace(source.List{Items: []source.Staged{source.LeaveOut()}}, "1")
	p.running <- struct{}{}
	<-ctx.Done()
	return nil
}

// Omits implements source.Partial.
func (partial[T]) Omits(field string) bool { return field == labels }

// Omits tests that a source over another one reports a field that this leaves out. With later,
// it reports none before it runs. Then a sink that needs the field has to fail.
func Omits[A, B index.Object](t *testing.T, later bool, wrap func(src source.Source[A]) source.Source[B]) {
	t.Helper()
	src := partial[A]{make(chan struct{}, 1)}
	run := func(end *Recorder[B], of source.Source[B], until <-chan struct{}) error {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- of.Run(ctx, end) }()
		select {
		case err := <-ended: // by itself
			cancel()
			return err
		case <-until:
		case <-needless(end.Needs, src.running):
			assert.Fail(t, "it runs, though what is needed is left out")
		}
		if end.Needs == nil {
			assert.True(t, source.Omits(of, labels), "as it runs")
			assert.False(t, source.Omits(of, "spec"), "as it runs")
		}
		cancel()
		return <-ended
	}
	wrapped := wrap(src)
	assert.Equal(t, !later, source.Omits(wrapped, labels), "before it runs")
	assert.NoError(t, run(&Recorder[B]{}, wrapped, src.running), "nobody needs it")
	assert.Equal(t, !later, source.Omits(wrapped, labels), "after it has run")
	if !later {
		return
	}
	told := make(chan struct{}, 1)
	err := run(&Recorder[B]{Needs: []string{labels}, OnError: func(err error) {
		if strings.Contains(err.Error(), leftOut) {
			told <- struct{}{}
		}
	}}, wrap(src), told)
	if err != nil {
		assert.ErrorContains(t, err, leftOut)
	}
}

// needless returns running if there is something that is needed, else a channel that blocks.
func needless(needs []string, running <-chan struct{}) <-chan struct{} {
	if len(needs) == 0 {
		return nil
	}
	return running
}
