package benchmarks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
)

// rig is a running informer of one side, on a feed.
type rig struct {
	informer
	*cluster.Feed
	stop func() // ends the informer and waits for it
}

// start starts an informer with a handler for each of handlers. The informer is
// about to ask for its first list.
func start(tb testing.TB, s side, indexed bool, handlers ...calls) (*rig, []<-chan struct{}) {
	r := &rig{Feed: cluster.NewFeed()}
	r.informer = s.make(tb, r.Feed, indexed)
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
	r.Answer(list, func() {})
	for _, done := range synced {
		<-done
	}
	return r
}

// pipeline is an informer whose handlers count updates.
type pipeline struct {
	*rig
	*delivery.Delivery
}

func newPipeline(tb testing.TB, s side, indexed bool, list runtime.Object, handlers int) *pipeline {
	p := &pipeline{Delivery: delivery.New(handlers)}
	var all []calls
	for _, m := range p.Meters {
		all = append(all, calls{update: func(_, _ *corev1.Pod) { m.Add() }})
	}
	p.rig = startSynced(tb, s, indexed, list, all...)
	return p
}

// deliver sends n events, going through events as often as need be, and returns
// when every handler has got all of them.
func (p *pipeline) deliver(events []watch.Event, n int) { p.Send(p.Events, events, n) }
