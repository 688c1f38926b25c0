package kube

import (
	"context"
	"errors"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

var (
	// errUndecoded is why there is no response of a watch to decode.
	errUndecoded = errors.New("response is decoded by the caller")
	errSeveral   = errors.New("the caller makes several requests for one watch")
)

// WatchWithContext implements cache.WatcherWithContext.
func (d *decodingListerWatcher[T]) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	var undecoded watch.Interface
	w, err := d.responses.watch(ctx, opts, func(request context.Context, opts metav1.ListOptions) (body io.ReadCloser, codec wire.Codec[T], err error) {
		body, codec, undecoded, err = d.open(ctx, request, opts)
		if errors.Is(err, errSeveral) {
			body, codec, undecoded, err = d.open(ctx, request, opts)
		}
		if undecoded != nil {
			err = errUndecoded
		}
		return body, codec, err
	})
	if undecoded != nil {
		return undecoded, nil
	}
	return w, err
}

// open makes the other ListerWatcher request a watch until one of two contexts ends. It returns
// the response and its codec, or else a watch that the other ListerWatcher decodes. After
// errSeveral, it returns the latter when it is called again.
func (d *decodingListerWatcher[T]) open(ctx, request context.Context, opts metav1.ListOptions) (body io.ReadCloser, codec wire.Codec[T], undecoded watch.Interface, err error) {
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(request, cancel)
	var response *http.Response
	t := &taker{
		take: func(r *http.Response) io.ReadCloser {
			if d.left.Load() || d.codec(r) == nil {
				return nil
			}
			response = r
			return newEmptyBody()
		},
		several: func() {
			d.leaveAll(ctx)
			cancel()
		},
	}
	w, err := d.requests.WatchWithContext(t.with(ctx), opts)
	switch taken, several := t.took(); {
	case taken && err == nil:
		taken := watchBody{response.Body, w, t}
		if !several {
			return taken, d.codec(response), nil, nil
		}
		d.responses.streams.Go(func() { taken.Close() }) //nolint:errcheck // it is of no use
		err = errSeveral
	case err == nil && unlink():
		d.checkOffered(ctx, t, nil)
		return nil, nil, &endingWatch{d.masked(w), cancel}, nil
	case err == nil: // the context of the request has ended
		w.Stop()
		err = context.Cause(request)
	case taken:
		err = errors.Join(err, response.Body.Close())
		if several {
			err = errors.Join(err, errSeveral)
		}
	}
	cancel()
	return nil, nil, nil, err
}

// masked returns a watch of whose objects, which were decoded, fields are left out.
func (d *decodingListerWatcher[T]) masked(w watch.Interface) watch.Interface {
	if d.mask == nil {
		return w
	}
	m := &maskedWatch{newRelay(w), d.mask}
	d.responses.streams.Go(m.run)
	return m
}

// watchBody is the response of a watch, with the watch of the ListerWatcher that made the
// request.
type watchBody struct {
	io.ReadCloser
	beside watch.Interface
	taker  *taker
}

// Read implements io.Reader.
func (b watchBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if _, several := b.taker.took(); err != nil && several {
		err = errSeveral // what else has come by the other ones is not known
	}
	return n, err
}

// Close implements io.Closer. It waits until the other watch has ended.
func (b watchBody) Close() error {
	b.beside.Stop()
	for range b.beside.ResultChan() {
	}
	return b.ReadCloser.Close()
}

// endingWatch is a watch that ends its request.
type endingWatch struct {
	watch.Interface
	cancel context.CancelFunc
}

// Stop implements watch.Interface.
func (w *endingWatch) Stop() {
	w.Interface.Stop()
	w.cancel()
}

// maskedWatch is a watch that removes fields from objects.
type maskedWatch struct {
	*relay
	mask *plan.Mask
}

func (w *maskedWatch) run() {
	defer utilruntime.HandleCrash()
	defer close(w.events)
	for e := range w.Interface.ResultChan() {
		if e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted {
			w.mask.Apply(e.Object)
		}
		if !w.send(e) {
			return
		}
	}
}
