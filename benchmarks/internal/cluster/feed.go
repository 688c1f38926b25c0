package cluster

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Feed is the server of an informer: a cache.ListerWatcher with one watch. The benchmark decides
// how to answer a list, and when. Nothing is encoded or decoded.
type Feed struct {
	// Events are what the watch sends.
	Events  chan watch.Event
	asked   chan struct{}       // an informer asks for a list
	answers chan runtime.Object // what it is given
}

var (
	_ cache.ListerWatcher            = (*Feed)(nil)
	_ cache.ListerWatcherWithContext = (*Feed)(nil)
	_ watch.Interface                = (*Feed)(nil)
)

// NewFeed returns a feed. Its watch has room for some events, so that sending
// them is not a switch of goroutines for each, which no side could help.
func NewFeed() *Feed {
	return &Feed{
		Events:  make(chan watch.Event, 1024),
		asked:   make(chan struct{}),
		answers: make(chan runtime.Object),
	}
}

// Answer waits until the informer asks for a list, calls before, and then gives
// it list.
func (f *Feed) Answer(list runtime.Object, before func()) {
	<-f.asked
	before()
	f.answers <- list
}

// Expire ends the watch as a server does that has forgotten the version from
// which it began. After some delay, the informer asks for a list.
func (f *Feed) Expire() {
	f.Events <- watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}}
}

// List is there to make a cache.ListerWatcher.
func (f *Feed) List(opts metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), opts)
}

// Watch is there to make a cache.ListerWatcher.
func (f *Feed) Watch(metav1.ListOptions) (watch.Interface, error) { return f, nil }

// ListWithContext implements cache.ListerWithContext.
func (f *Feed) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	select {
	case f.asked <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case list := <-f.answers:
		return list, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// WatchWithContext implements cache.WatcherWithContext.
func (f *Feed) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return f, nil
}

// IsWatchListSemanticsUnSupported reports to the Reflector that lists cannot be streamed.
func (f *Feed) IsWatchListSemanticsUnSupported() bool { return true }

// ResultChan implements watch.Interface.
func (f *Feed) ResultChan() <-chan watch.Event { return f.Events }

// Stop implements watch.Interface.
func (f *Feed) Stop() {}
