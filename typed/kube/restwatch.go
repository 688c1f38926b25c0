package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/typed/source"
)

var (
	// errNoAnswer is what a watch fails with that was never opened, though the server
	// could be reached.
	errNoAnswer   = errors.New("the server has not answered")
	errShortWatch = errors.New("the server, or something in between, ended it without an event")
)

// resultBuffer is how many decoded events wait for the Reflector.
const resultBuffer = 64

// resultBuffer is that of one watch. Of one object there are few, and maybe many such watches.
func (lw *restListerWatcher[T]) resultBuffer() int {
	if lw.single {
		return 1
	}
	return resultBuffer
}

// decoders returns how many goroutines may decode a watch.
func (lw *restListerWatcher[T]) decoders() int {
	if lw.single {
		return 1
	}
	return decoders()
}

// WatchWithContext implements cache.WatcherWithContext.
func (lw *restListerWatcher[T]) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return lw.watch(ctx, opts, func(ctx context.Context, opts metav1.ListOptions) (io.ReadCloser, wire.Codec[T], error) {
		return lw.client.get(ctx, lw.resource.path(lw.namespace), opts)
	})
}

// watch decodes the watch that a function requests.
func (lw *restListerWatcher[T]) watch(
	ctx context.Context, opts metav1.ListOptions,
	get func(context.Context, metav1.ListOptions) (io.ReadCloser, wire.Codec[T], error),
) (watch.Interface, error) {
	list := streamedListOf(ctx)
	list.askAfter(ctx, lw.breaks.wait)
	ctx, stop := context.WithCancel(ctx)
	request, cancel := context.WithCancelCause(ctx)
	opts.Watch = true
	response, codec, err := get(request, opts)
	if err != nil {
		cancel(nil)
		stop()
		if utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) {
			return nil, fmt.Errorf("watch %s: %w: %w", lw.resource, errNoAnswer, err)
		}
		return nil, newStreamError("watch", lw.resource, "", err)
	}
	w := &restWatch[T]{
		lw: lw, codec: codec, ctx: ctx, stop: stop, request: request, cancel: cancel,
		events: make(chan watch.Event, lw.resultBuffer()),
		lists:  ptr.Deref(opts.SendInitialEvents, false), list: list, last: opts.ResourceVersion,
		begun: time.Now(),
	}
	if w.lists {
		w.last = ""
	}
	if list != nil {
		list.taken = true
		list.watchOver(cancel)
	}
	lw.reports.Report(nil) // before the watch can report how it ends
	lw.streams.Go(func() { w.run(response) })
	return w, nil
}

// restWatch is one watch. Unless a comment says otherwise, the goroutine that emits owns the
// fields.
type restWatch[T index.Object] struct {
	lw      *restListerWatcher[T]
	codec   wire.Codec[T]
	ctx     context.Context // ends with Stop
	stop    context.CancelFunc
	request context.Context // ends before, if the response is of no more use
	cancel  context.CancelCauseFunc
	events  chan watch.Event

	begun   time.Time
	brought bool          // anything but a part of a list
	lists   bool          // a list is being streamed
	list    *streamedList // that it has begun with; nil: none, or one without a guard
	last    string        // the version to continue from; "": none
}

// ResultChan implements watch.Interface.
func (w *restWatch[T]) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface. The goroutines end soon, and the source waits
// for them.
func (w *restWatch[T]) Stop() { w.stop() }

func (w *restWatch[T]) run(response io.ReadCloser) {
	defer utilruntime.HandleCrashWithContext(w.ctx)
	defer close(w.events)
	defer response.Close() //nolint:errcheck // it has been read, or is given up
	defer w.stop()
	if w.list != nil {
		defer w.list.release()
		defer w.list.silent.Stop()
	}
	err := wire.NewPipeline(w.lw.decoders(), w.decode, w.emit, func() { w.cancel(nil) }).Run(w.codec.Frames(metered{response, w.lw.meter}))
	switch {
	case w.ctx.Err() != nil || errors.Is(err, wire.ErrStopped):
	case errors.Is(context.Cause(w.request), errSilence):
		if w.lists { // else the bookmark has come after all
			w.send(w.list.giveUp(w.named(errSilence), true))
		}
	case err == nil && w.lists && w.list != nil && w.list.hasRunOut():
		w.send(w.list.giveUp(w.named(errSilence), true))
	default:
		w.breakOff(err)
	}
}

// named returns an error that names the resource.
func (w *restWatch[T]) named(err error) error { return fmt.Errorf("watch %s: %w", w.lw.resource, err) }

// decode decodes an event, by any goroutine.
func (w *restWatch[T]) decode(frame []byte) (wire.Event[T], error) {
	if done := w.lw.meter.Decode(); done != nil {
		defer done()
	}
	return w.codec.Event(frame)
}

// report reports an error, which is that of a list while one is streamed.
func (w *restWatch[T]) report(err error) {
	w.lw.reports.Report(&source.RequestError{Watch: !w.lists, Err: err})
}

// fail reports an error, and has the Reflector give up the watch and the version
// that it has come to.
func (w *restWatch[T]) fail(err error) {
	w.report(err)
	w.send(failure(err))
}

// breakOff ends a watch whose response has ended, or cannot be used any further; err is nil if
// it has ended after a whole event. The Reflector continues from the last version that it got,
// unless that has failed too often. If a streamed list cannot be used, the Reflector lists the
// objects the plain way.
func (w *restWatch[T]) breakOff(err error) {
	worked := w.brought || !w.lists && time.Since(w.begun) >= healthyWatch
	w.lw.breaks.ended(worked)
	cutOff := errors.Is(err, io.ErrUnexpectedEOF)
	frame, broken := errors.AsType[*wire.FrameError](err)
	broken = broken && (cutOff || !utilnet.IsProbableEOF(frame.Err) && !utilnet.IsTimeout(frame.Err))
	switch {
	case broken:
		err = newStreamError("watch", w.lw.resource, w.last, err)
	case w.lists:
		err = w.named(errCutList)
	case worked:
		return // connections end
	default:
		err = fmt.Errorf("watch %s: %w after %s", w.lw.resource, errShortWatch, time.Since(w.begun).Round(time.Millisecond))
	}
	switch garbled := broken && !cutOff; {
	case garbled && (w.lists || w.lw.failing || w.lw.breaks.isHopeless(w.last)):
		w.fail(err) // as a generated client, whose watch ends with an error then
	case w.lists && w.list != nil && w.list.isCutTooOften():
		w.send(w.list.giveUp(err, false))
	default:
		w.report(err)
	}
}

// emit passes an event on, and reports whether to continue.
func (w *restWatch[T]) emit(e wire.Event[T]) bool {
	switch {
	case e.Status != nil && w.lists && w.list != nil && apierrors.IsTooManyRequests(apierrors.FromObject(e.Status)):
		w.send(w.list.refuse(w.request, w.named(apierrors.FromObject(e.Status))))
		return false
	case e.Status != nil:
		w.report(w.named(apierrors.FromObject(e.Status)))
		w.send(watch.Event{Type: watch.Error, Object: e.Status})
		return false
	case e.Bookmark != nil:
		w.note(e.Bookmark.ResourceVersion)
		w.brought = w.brought || !w.lists
		if e.Bookmark.Annotations[metav1.InitialEventsAnnotationKey] == "true" && w.lists {
			if w.list != nil {
				w.list.complete()
			}
			w.lists = false
			w.last = e.Bookmark.ResourceVersion
		}
		return w.send(watch.Event{Type: watch.Bookmark, Object: w.lw.bookmark(e.Bookmark)})
	}
	if w.lists && w.list != nil {
		w.list.note(e.Type)
	}
	w.brought = w.brought || !w.lists
	switch {
	case e.Invalid != nil && w.lw.failing:
		w.fail(newStreamError("watch", w.lw.resource, w.last, e.Invalid))
		return false
	case w.lw.isStray(e.Kind) && w.lw.failing:
		w.fail(newStreamError("watch", w.lw.resource, w.last, strayError(e.Kind, w.lw.expected)))
		return false
	case e.Invalid != nil:
		w.note(e.Invalid.Identity.ResourceVersion)
		return w.send(watch.Event{Type: e.Type, Object: wrapInvalid[T](e.Invalid, w.last)})
	case w.lw.isStray(e.Kind):
		return w.send(watch.Event{Type: e.Type, Object: wrapStray(e.Object, e.Kind, w.lw.expected)})
	}
	w.lw.stampEvent(e.Object)
	version := any(e.Object).(versionGetter).GetResourceVersion() // its receiver may modify it
	if !w.send(watch.Event{Type: e.Type, Object: wrap(e.Object)}) {
		return false
	}
	w.note(version)
	return true
}

// bookmark returns a bookmark as the Reflector expects it: one that looks at the types of
// objects, and at the kinds of unstructured ones, takes none of another.
func (lw *restListerWatcher[T]) bookmark(of *metav1.PartialObjectMetadata) runtime.Object {
	if lw.failing {
		if obj, ok := reflect.New(lw.of.Elem()).Interface().(apiObject); ok {
			obj.SetResourceVersion(of.ResourceVersion)
			obj.SetAnnotations(of.Annotations)
			obj.GetObjectKind().SetGroupVersionKind(lw.bookmarkKind)
			return obj
		}
	}
	return of
}

// apiObject is an object of an API type.
type apiObject = kept.Whole

// note notes the version to continue from.
func (w *restWatch[T]) note(version string) {
	if !w.lists && version != "" {
		w.last = version
	}
}

func (w *restWatch[T]) send(e watch.Event) bool {
	select {
	case w.events <- e:
		return true
	case <-w.ctx.Done():
		return false
	}
}
