package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/typed/source"
)

const (
	// defaultSilence is how long a streamed list may bring nothing. client-go begins to
	// warn after 10 s, and waits on.
	defaultSilence = 30 * time.Second
	// maxCutLists is how many streamed lists in a row may end before they are
	// complete, before the objects are listed the plain way, once.
	maxCutLists = 3
)

var (
	// errNotStreamed is what a streamed list fails with once it is known that the objects
	// have to be listed. It is not reported.
	errNotStreamed = errors.New("lists are not streamed any more")

	errSilence = errors.New("the server does not end the streamed list, as if it knew nothing of such lists; listing the plain way from now on")
	errCutList = errors.New("the streamed list ended before it was complete")
	errRefused = errors.New("the server has had no time for a streamed list; listing the plain way")
)

// givenUpError is the report that a streamed list was given up.
type givenUpError struct{ error }

// Is implements what errors.Is asks for.
func (givenUpError) Is(target error) bool { return target == source.ErrNotStreamed }

// Unwrap returns the reason.
func (e givenUpError) Unwrap() error { return e.error }

// streamedLists is what is remembered of the streamed lists (WatchList) of one informer.
// client-go's Reflector asks for one until it is complete, however often it ends, and waits
// for its end for ever; with any other error, it makes a plain list in its place. So each
// is watched over here, and given up by such an error.
type streamedLists struct {
	silence time.Duration // how long one may bring nothing; twice as long before it begins
	report  func(error)

	plain atomic.Bool // none is streamed any more

	mu    sync.Mutex
	cuts  int       // guarded by mu; lists in a row that ended too early
	since time.Time // guarded by mu; when the first list in a row began that was not complete, zero: all were
}

// begin notes that a list is asked for.
func (s *streamedLists) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
	}
}

// settle forgets the lists that were not complete.
func (s *streamedLists) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts, s.since = 0, time.Time{}
}

// isCutTooOften notes a list that ended too early, and reports whether too many have, or
// for too long.
func (s *streamedLists) isCutTooOften() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts++
	return s.cuts >= maxCutLists || time.Since(s.since) >= s.silence
}

// isRefusedForTooLong reports whether lists have been asked for, and were not complete, for
// as long as one may take to begin.
func (s *streamedLists) isRefusedForTooLong() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.since) >= 2*s.silence
}

// giveUp reports that a list was given up, for a reason, and makes it the last one of the
// informer if it is for good. It returns the event by which the Reflector makes a plain list.
func (s *streamedLists) giveUp(reason error, forGood bool) watch.Event {
	if forGood {
		s.plain.Store(true)
	}
	s.settle()
	s.report(givenUpError{reason})
	return failure(reason)
}

// failure is an event that ends a watch, and that a Reflector does not try again after.
func failure(err error) watch.Event {
	return watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}}
}

// streamedList is a list that is being streamed. It is owned by the goroutine that passes its
// events on.
type streamedList struct {
	*streamedLists
	release func() // ends the request

	begun      time.Time
	timeout    time.Duration // that the server was asked to end it after; 0: none
	unanswered *time.Timer   // ends the request, with the cause errSilence, before it is answered
	silent     *time.Timer   // does so from then on
	live       bool          // something has come that is not one of the first objects
	taken      bool          // the watch that was opened watches over the list itself
}

// askAfter waits before the server is asked for the list: until then, it is not silent, and its time
// for the list has not begun. The list may be nil.
func (l *streamedList) askAfter(ctx context.Context, wait func(context.Context)) {
	if l == nil {
		wait(ctx)
		return
	}
	l.unanswered.Stop()
	wait(ctx)
	if ctx.Err() == nil {
		l.begun = time.Now()
		l.unanswered.Reset(2 * l.silence)
	}
}

// watchOver ends the request if nothing comes in time.
func (l *streamedList) watchOver(cancel context.CancelCauseFunc) {
	l.silent = time.AfterFunc(l.silence, func() { cancel(errSilence) })
}

// note takes note of an event. The first objects come as additions, before all changes:
// what is added after those is no sign that the list continues.
func (l *streamedList) note(event watch.EventType) {
	switch {
	case event == watch.Modified || event == watch.Deleted:
		l.live = true
	case event == watch.Added && !l.live:
		l.silent.Reset(l.silence)
	}
}

// complete notes that the list is.
func (l *streamedList) complete() {
	l.silent.Stop()
	l.settle()
}

// hasRunOut reports whether the server has had the time for the list that it was asked to
// take.
func (l *streamedList) hasRunOut() bool {
	return l.timeout != 0 && time.Since(l.begun) >= l.timeout
}

// refuse waits, as the server has no time for the list that it has begun, and gives it up.
// The Reflector would wait as well, but does not stop meanwhile.
func (l *streamedList) refuse(ctx context.Context, status error) watch.Event {
	l.silent.Stop()
	between := requestConfig{}.refused()
	l.wait(ctx, &between, status)
	return l.giveUp(fmt.Errorf("%w: %w", errRefused, status), false)
}

// wait waits after a request was refused: for what the backoff says, or the server if that
// is longer, but no longer than a list may be silent.
func (s *streamedLists) wait(ctx context.Context, between *backoff, err error) {
	length := between.next(ctx)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		length = max(length, time.Duration(seconds)*time.Second)
	}
	sleep(ctx, min(length, s.silence))
}

// streamedListKey is the key under which the context of a request for a streamed list has
// its *streamedList.
type streamedListKey struct{}

// streamedListOf returns the streamed list that a request is for, nil if it has no
// guard.
func streamedListOf(ctx context.Context) *streamedList {
	list, _ := ctx.Value(streamedListKey{}).(*streamedList)
	return list
}

// isInitialEnd reports whether an event is the bookmark after the first objects of a
// streamed list.
func isInitialEnd(e watch.Event) bool {
	if e.Type != watch.Bookmark {
		return false
	}
	accessor, err := meta.Accessor(e.Object)
	return err == nil && accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}
