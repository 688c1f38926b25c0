package adapters_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// script is a server whose answers the test makes itself.
type script struct {
	streamed bool // it can stream lists

	mu       sync.Mutex
	list     answer
	first    []answer // of the next lists, before list
	refusals []error  // of the next watches
	asked    []call   // for lists
	watched  []call
	streams  []*stream
}

// answer answers a list.
type answer func(metav1.ListOptions) (runtime.Object, error)

// call is a request that the script got, and when.
type call struct {
	options metav1.ListOptions
	at      time.Time
}

// event is a watch event. One without a type ends the watch.
type event = watch.Event

func added(obj runtime.Object) event    { return event{Type: watch.Added, Object: obj} }
func modified(obj runtime.Object) event { return event{Type: watch.Modified, Object: obj} }
func deleted(obj runtime.Object) event  { return event{Type: watch.Deleted, Object: obj} }
func ended() event                      { return event{} }

// failed is an event that says that the watch failed.
func failed(err *apierrors.StatusError) event {
	return event{Type: watch.Error, Object: &err.ErrStatus}
}

func expired() event { return failed(apierrors.NewResourceExpired("too old")) }

// bookmark says that there was nothing else up to a version.
func bookmark(version string) event {
	return event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}}
}

// initialEnd is the bookmark after the last object of a streamed list.
func initialEnd(version string) event {
	e := bookmark(version)
	e.Object.(*corev1.Pod).Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return e
}

// lists makes the script answer lists with these Pods from now on.
func (s *script) lists(version string, pods ...*corev1.Pod) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	s.answers(func(metav1.ListOptions) (runtime.Object, error) { return list.DeepCopy(), nil })
}

// answers makes the script answer lists with the given function from now on.
func (s *script) answers(list answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = list
}

// answersOnce sets the answer to one list, after those of earlier calls.
func (s *script) answersOnce(list answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = append(s.first, list)
}

// fails makes the next lists fail, one with each error.
func (s *script) fails(errs ...error) {
	for _, err := range errs {
		s.answersOnce(func(metav1.ListOptions) (runtime.Object, error) { return nil, err })
	}
}

// refuses makes the next watches fail, one with each error.
func (s *script) refuses(errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, errs...)
}

// List answers a list.
func (s *script) List(options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	s.asked = append(s.asked, call{options, time.Now()})
	list := s.list
	if len(s.first) > 0 {
		list, s.first = s.first[0], s.first[1:]
	}
	s.mu.Unlock()
	return list(options)
}

// Watch starts a stream.
func (s *script) Watch(options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = append(s.watched, call{options, time.Now()})
	if len(s.refusals) > 0 {
		err := s.refusals[0]
		s.refusals = s.refusals[1:]
		return nil, err
	}
	w := &stream{events: make(chan event, 10_000), stopped: make(chan struct{})}
	s.streams = append(s.streams, w)
	return w, nil
}

// IsWatchListSemanticsUnSupported reports whether the server cannot stream lists.
func (s *script) IsWatchListSemanticsUnSupported() bool { return !s.streamed }

func (s *script) listCalls() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.asked...)
}

func (s *script) watchCalls() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.watched...)
}

// send sends events to the newest watch.
func (s *script) send(t *testing.T, events ...event) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.streams, "nobody watches")
	w := s.streams[len(s.streams)-1]
	for _, e := range events {
		if e.Type == "" {
			close(w.events)
			return
		}
		w.events <- e
	}
}

// awaitLists lets time pass until there were n lists and they are done with.
// A second is more often than any retry.
func (s *script) awaitLists(n int) { awaitCalls(s.listCalls, n) }

// awaitWatches is awaitLists for watches.
func (s *script) awaitWatches(n int) { awaitCalls(s.watchCalls, n) }

func awaitCalls(calls func() []call, n int) {
	synctest.Wait()
	for range 600 {
		if len(calls()) >= n {
			return
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
	panic("no such call within ten minutes")
}

type watchInterface = watch.Interface

// stream is one watch.
type stream struct {
	events  chan event
	stopped chan struct{}
	once    sync.Once
}

func (w *stream) ResultChan() <-chan event { return w.events }
func (w *stream) Stop()                    { w.once.Do(func() { close(w.stopped) }) }
