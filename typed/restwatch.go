package typed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/wire"
)

var (
	// errNotStreamed is what a streamed list fails with once it is known that
	// the server cannot do it. It is not reported.
	errNotStreamed = errors.New("lists are not streamed any more")
	errSilence     = errors.New("the server does not end the streamed list, as if it knew nothing of such lists; listing the plain way from now on")
)

// resultBuffer is how many decoded events wait for the Reflector.
const resultBuffer = 64

// WatchWithContext implements cache.WatcherWithContext.
func (lw *restListerWatcher[T]) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	streamsList := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if streamsList && lw.plain.Load() {
		return nil, errNotStreamed
	}
	if lw.broken.Swap(false) {
		lw.between.wait(ctx)
	} else {
		lw.between.reset()
	}
	ctx, stop := context.WithCancel(ctx)
	request, cancel := context.WithCancelCause(ctx)
	opts.Watch = true
	response, codec, err := lw.client.get(request, lw.resource.path(lw.config.namespace), opts)
	if err != nil {
		cancel(nil)
		stop()
		if utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) {
			return watch.NewEmptyWatch(), nil // as rest.Request.Watch
		}
		return nil, newStreamError("watch", lw.resource, "", err)
	}
	w := &restWatch[T]{
		lw: lw, codec: codec, ctx: ctx, stop: stop, request: request, cancel: cancel,
		events: make(chan watch.Event, resultBuffer),
		lists:  streamsList, last: opts.ResourceVersion,
	}
	if streamsList {
		w.last = ""
		w.begun, w.timeout = time.Now(), opts.TimeoutSeconds
		w.silence = time.AfterFunc(lw.config.silence, func() { cancel(errSilence) })
	}
	lw.streams.Go(func() { w.run(response) })
	return w, nil
}

// restWatch is one watch. What is not said otherwise is owned by the goroutine
// that emits.
type restWatch[T index.Object] struct {
	lw      *restListerWatcher[T]
	codec   wire.Codec[T]
	ctx     context.Context // ends with Stop
	stop    context.CancelFunc
	request context.Context // ends before, if the response is of no more use
	cancel  context.CancelCauseFunc
	events  chan watch.Event

	lists   bool        // a list is being streamed
	silence *time.Timer // ends a streamed list; nil: it is none
	begun   time.Time
	timeout *int64 // seconds that the server was asked to end the watch after
	last    string // the version to go on from; "": none
}

// ResultChan implements watch.Interface.
func (w *restWatch[T]) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface. The goroutines end soon, and the source waits
// for them.
func (w *restWatch[T]) Stop() { w.stop() }

func (w *restWatch[T]) run(response io.ReadCloser) {
	defer close(w.events)
	defer response.Close() //nolint:errcheck // it has been read, or is given up
	defer w.stop()
	if w.silence != nil {
		defer w.silence.Stop()
	}
	err := wire.NewPipeline(decoders(), w.codec.Event, w.emit, func() { w.cancel(nil) }).Run(w.codec.Frames(response))
	switch {
	case w.ctx.Err() != nil || errors.Is(err, wire.ErrStopped):
	case errors.Is(context.Cause(w.request), errSilence):
		if w.lists { // else the bookmark has come after all
			w.giveUpStreaming()
		}
	case err == nil && w.lists:
		if w.timeout != nil && time.Since(w.begun) >= time.Duration(*w.timeout)*time.Second {
			w.giveUpStreaming()
			return
		}
		w.lw.broken.Store(true)
	case err != nil:
		w.breakOff(err)
	}
}

// giveUpStreaming has the Reflector list the plain way, now and later.
func (w *restWatch[T]) giveUpStreaming() {
	w.lw.plain.Store(true)
	w.fail(fmt.Errorf("watch %s: %w", w.lw.resource, errSilence))
}

// fail reports an error, and has the Reflector give up the watch and the version
// that it has come to.
func (w *restWatch[T]) fail(err error) {
	w.lw.sink.Report(err)
	w.send(watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}})
}

// breakOff ends a watch whose response cannot be used any further. The Reflector
// goes on from the last version that it got, or, with a list that was being
// streamed and that cannot be decoded, lists the plain way.
func (w *restWatch[T]) breakOff(err error) {
	w.lw.broken.Store(true)
	var frame *wire.FrameError
	cutOff := errors.Is(err, io.ErrUnexpectedEOF)
	if !errors.As(err, &frame) || !cutOff && (utilnet.IsProbableEOF(frame.Err) || utilnet.IsTimeout(frame.Err)) {
		return // the connection ended, as connections do
	}
	err = newStreamError("watch", w.lw.resource, w.last, err)
	if w.lists && !cutOff {
		w.fail(err)
		return
	}
	w.lw.sink.Report(err)
}

// emit passes an event on. It reports whether to go on.
func (w *restWatch[T]) emit(e wire.Event[T]) bool {
	switch {
	case e.Status != nil:
		w.lw.sink.Report(fmt.Errorf("watch %s: %w", w.lw.resource, apierrors.FromObject(e.Status)))
		w.send(watch.Event{Type: watch.Error, Object: e.Status})
		return false
	case e.Bookmark != nil:
		w.note(e.Bookmark.ResourceVersion)
		if e.Bookmark.Annotations[metav1.InitialEventsAnnotationKey] == "true" && w.lists {
			w.silence.Stop()
			w.lists = false
			w.last = e.Bookmark.ResourceVersion
		}
		return w.send(watch.Event{Type: watch.Bookmark, Object: e.Bookmark})
	}
	if w.lists && e.Type == watch.Added {
		w.silence.Reset(w.lw.config.silence)
	}
	if w.isStray(e.Kind) {
		return w.send(watch.Event{Type: e.Type, Object: carryStray(e.Object, e.Kind)})
	}
	w.lw.stamp(e.Object)
	if !w.send(watch.Event{Type: e.Type, Object: carry(e.Object)}) {
		return false
	}
	w.note(any(e.Object).(versionGetter).GetResourceVersion())
	return true
}

// note notes the version to go on from.
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

// isStray reports whether an object is of another kind than it should be.
func (w *restWatch[T]) isStray(kind metav1.TypeMeta) bool {
	return w.lw.expected.Kind != "" && kind.Kind != "" && kind.GroupVersionKind() != w.lw.expected
}
