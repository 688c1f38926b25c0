package kube

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/monitor"
)

// guardedWatch is the watch of a streamed list that the guarded ListerWatcher decodes.
type guardedWatch struct {
	*relay
	list    *streamedList
	request context.Context // ends with the cause errSilence, if nothing comes
}

// relay is a watch that passes on the events of another one. Unlike apimachinery's watch.Filter,
// it ends when it is stopped, even while no reader takes an event.
type relay struct {
	watch.Interface
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func newRelay(of watch.Interface) *relay {
	return &relay{Interface: of, events: make(chan watch.Event), stopped: make(chan struct{})}
}

// ResultChan implements watch.Interface.
func (w *relay) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *relay) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

// send passes an event on, and reports whether to continue.
func (w *relay) send(e watch.Event) bool {
	select {
	case w.events <- e:
		return true
	case <-w.stopped:
		return false
	}
}

func (w *guardedWatch) run() {
	defer utilruntime.HandleCrashWithContext(w.request)
	defer close(w.events)
	defer w.list.release()
	defer w.Interface.Stop()
	defer w.list.silent.Stop()
	for open := w.passList(); open; {
		var e watch.Event
		if e, open = w.next(); open {
			open = w.send(e)
		}
	}
}

// passList passes the list on. It reports whether that is complete, and the watch continues.
func (w *guardedWatch) passList() bool {
	for {
		e, open := w.next()
		if !open && !monitor.IsClosed(w.stopped) {
			e, open = w.end()
		}
		if !open {
			return false
		}
		if err := apierrors.FromObject(e.Object); e.Type == watch.Error && apierrors.IsTooManyRequests(err) {
			e = w.list.refuse(w.request, err)
		}
		w.list.note(e.Type)
		complete := isInitialEnd(e)
		if complete {
			w.list.complete()
		}
		if sent := w.send(e); !sent || complete || e.Type == watch.Error {
			return sent && complete
		}
	}
}

// next returns the next event, false if there is none. A watch that is stopped need not end.
func (w *guardedWatch) next() (watch.Event, bool) {
	select {
	case e, open := <-w.Interface.ResultChan():
		return e, open
	case <-w.request.Done():
	case <-w.stopped:
	}
	return watch.Event{}, false
}

// end returns the event after which the objects are listed, as the list has ended before it
// was complete; false if there is none, and it is asked for again.
func (w *guardedWatch) end() (watch.Event, bool) {
	switch silent := errors.Is(context.Cause(w.request), errSilence); {
	case silent, w.list.hasRunOut():
		return w.list.giveUp(errSilence, true), true
	case w.request.Err() == nil && w.list.isCutTooOften():
		return w.list.giveUp(errCutList, false), true
	}
	return watch.Event{}, false
}
