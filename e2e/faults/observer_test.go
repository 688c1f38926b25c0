package faults

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// poll is how often a test looks whether it has got there.
const poll = 2 * time.Millisecond

// observer is an informer with a history of each kind: of an event stream, of a
// handler, and of a handler that takes coalesced events.
type observer[T history.Object] struct {
	name     string
	informer *typed.Informer[T]
	stream   *history.History[T]
	handlers map[string]*history.History[T]
}

// observe runs an informer, until the test ends, and returns when it has synced.
func observe[T history.Object](ctx context.Context, t *testing.T, name string, src source.Source[T]) *observer[T] {
	t.Helper()
	o := &observer[T]{
		name: name, informer: typed.NewInformer(src, typed.WithName(name)),
		stream:   history.New[T](),
		handlers: map[string]*history.History[T]{"handler": history.New[T](), "coalescing handler": history.New[T]()},
	}
	_, err := o.informer.Handle(o.handlers["handler"])
	require.NoError(t, err)
	_, err = o.informer.Handle(o.handlers["coalescing handler"], typed.WithDelivery(typed.Coalesce()))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, o.informer.Run(ctx)) })
	running.Go(func() {
		for e := range o.informer.Events(ctx).All() {
			o.stream.Record(e)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	require.NoError(t, o.informer.WaitForSync(ctx))
	return o
}

// verdict is what came of a fault, summed over observers.
type verdict struct {
	events, relisted int
	lost, divergent  []string
}

func (v *verdict) add(other verdict) {
	v.events += other.events
	v.relisted += other.relisted
	v.lost = append(v.lost, other.lost...)
	v.divergent = append(v.divergent, other.divergent...)
}

// judge waits until the informer and its histories have come to version of last,
// the newest object, and compares them with what the server holds.
func (o *observer[T]) judge(ctx context.Context, t *testing.T, want []T, last T, l *load[T]) verdict {
	t.Helper()
	assert.NoError(t, o.informer.WaitForResourceVersion(ctx, last.GetResourceVersion()), o.name)
	v := verdict{divergent: history.Diff("the server", want, o.name, o.informer.List())}
	histories := map[string]*history.History[T]{"stream": o.stream}
	for name, h := range o.handlers {
		histories[name] = h
	}
	for name, h := range histories {
		caughtUp := func() bool { return holds(h, last) }
		require.Eventually(t, caughtUp, time.Minute, poll, "%s: %s has not caught up", o.name, name)
		v.divergent = append(v.divergent, history.Diff("the server", want, o.name+"'s "+name, h.Objects())...)
		assert.NoError(t, h.Err(), "%s: %s", o.name, name)
	}
	v.lost = l.lost(o.stream)
	v.events, v.relisted = o.stream.Events()
	return v
}

// holds reports whether h has come to obj.
func holds[T history.Object](h *history.History[T], obj T) bool {
	got, ok := h.Get(index.KeyOf(obj))
	return ok && got.GetResourceVersion() == obj.GetResourceVersion()
}
