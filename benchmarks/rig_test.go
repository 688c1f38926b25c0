package benchmarks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// rig is a running informer of one side, on a feed.
type rig struct {
	informer
	*feed
	stop func() // ends the informer and waits for it
}

// start starts an informer with a handler for each of handlers. The informer is
// about to ask for its first list.
func start(tb testing.TB, s side, indexed bool, handlers ...calls) (*rig, []<-chan struct{}) {
	r := &rig{feed: newFeed()}
	r.informer = s.make(tb, r.feed, indexed)
	var synced []<-chan struct{}
	for _, h := range handlers {
		synced = append(synced, r.handle(tb, h))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	r.stop = func() {
		cancel()
		require.NoError(tb, <-ended)
	}
	return r, synced
}

// startSynced starts an informer and gives it its first list. It returns when
// all handlers have been called for all of it.
func startSynced(tb testing.TB, s side, indexed bool, list runtime.Object, handlers ...calls) *rig {
	r, synced := start(tb, s, indexed, handlers...)
	r.answer(list, func() {})
	for _, done := range synced {
		<-done
	}
	return r
}

// Events are sent as fast as the informer takes them, but not without a bound:
// both sides would go on queueing them, and the result would depend on how many
// there are. When so many are under way, the sender waits for handlers.
const (
	stride = 1024
	window = 8 * stride
)

// pipeline is an informer whose handlers count updates.
type pipeline struct {
	*rig
	meters   []*meter
	progress chan struct{} // a handler has got stride more events
	ended    chan struct{} // a handler has got all that are sent
}

func newPipeline(tb testing.TB, s side, indexed bool, list runtime.Object, handlers int) *pipeline {
	p := &pipeline{
		progress: make(chan struct{}, handlers*(window/stride+1)),
		ended:    make(chan struct{}, handlers),
	}
	var all []calls
	for range handlers {
		m := &meter{pipeline: p}
		p.meters = append(p.meters, m)
		all = append(all, calls{update: m.update})
	}
	p.rig = startSynced(tb, s, indexed, list, all...)
	return p
}

// deliver sends n events, going through events as often as need be, and returns
// when every handler has got all of them.
func (p *pipeline) deliver(events []watch.Event, n int) {
	for _, m := range p.meters {
		m.count, m.target = 0, n
	}
	next := 0
	for sent := range n {
		if sent >= window && sent%stride == 0 {
			for range p.meters {
				<-p.progress
			}
		}
		p.events <- events[next]
		if next++; next == len(events) {
			next = 0
		}
	}
	for range p.meters {
		<-p.ended
	}
	for len(p.progress) > 0 {
		<-p.progress
	}
}

// meter counts the calls of one handler. Its fields are owned by the handler
// while events are delivered.
type meter struct {
	*pipeline
	count, target int
	_             [40]byte // keeps the counts of two handlers out of one cache line
}

func (m *meter) update(_, _ *corev1.Pod) {
	m.count++
	if m.count%stride == 0 {
		m.progress <- struct{}{}
	}
	if m.count == m.target {
		m.ended <- struct{}{}
	}
}
