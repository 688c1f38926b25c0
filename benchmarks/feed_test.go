package benchmarks

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// feed is the server of an informer: a cache.ListerWatcher with one watch. What
// a list is answered with, and when, is up to the benchmark. Nothing is encoded
// or decoded.
type feed struct {
	asked   chan struct{}       // an informer asks for a list
	answers chan runtime.Object // what it is given
	events  chan watch.Event
}

var (
	_ cache.ListerWatcher            = (*feed)(nil)
	_ cache.ListerWatcherWithContext = (*feed)(nil)
	_ watch.Interface                = (*feed)(nil)
)

// newFeed returns a feed. Its watch has room for some events, so that sending
// them is not a switch of goroutines for each, which neither side could help.
func newFeed() *feed {
	return &feed{
		asked:   make(chan struct{}),
		answers: make(chan runtime.Object),
		events:  make(chan watch.Event, 1024),
	}
}

// answer waits until the informer asks for a list, calls before, and then gives
// it list.
func (f *feed) answer(list runtime.Object, before func()) {
	<-f.asked
	before()
	f.answers <- list
}

// expire ends the watch as a server does that has forgotten the version from
// which it began. After some delay, the informer asks for a list.
func (f *feed) expire() {
	f.events <- watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}}
}

// List is there to make a cache.ListerWatcher.
func (f *feed) List(opts metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), opts)
}

// Watch is there to make a cache.ListerWatcher.
func (f *feed) Watch(metav1.ListOptions) (watch.Interface, error) { return f, nil }

// ListWithContext implements cache.ListerWithContext.
func (f *feed) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
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
func (f *feed) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return f, nil
}

// IsWatchListSemanticsUnSupported tells the Reflector that lists cannot be
// streamed.
func (f *feed) IsWatchListSemanticsUnSupported() bool { return true }

// ResultChan implements watch.Interface.
func (f *feed) ResultChan() <-chan watch.Event { return f.events }

// Stop implements watch.Interface.
func (f *feed) Stop() {}

// updates returns n watch events, each of them a new version of a Pod of c.
// Every Pod is updated before one is updated again, in random order.
func updates(c *cluster, n int) []watch.Event {
	events := make([]watch.Event, 0, n)
	for version := 2; ; version++ {
		for _, i := range c.shuffled(uint64(version)) {
			if len(events) == n {
				return events
			}
			events = append(events, watch.Event{Type: watch.Modified, Object: c.pod(i, version)})
		}
	}
}

// podOf returns the Pod of an event that updates made.
func podOf(event watch.Event) *corev1.Pod { return event.Object.(*corev1.Pod) }
