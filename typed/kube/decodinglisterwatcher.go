package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// DecodingListerWatcher lists and watches with any other ListerWatcher, for a Reflector that
// other code runs. The other one makes the requests, with its own credentials, rate limits,
// retries and errors. This one decodes the objects of the responses on all cores, and
// deduplicates them, see [WithoutDeduplication]. It is for one Reflector.
//
// The other one has to pass its context on to requests, and make them by a
// [DecodingTransport]; if it does not, it decodes, and the log says so once. A response that
// cannot be decoded here, because of its format, is left to it; so is all decoding, from then
// on, if it makes a list or a watch of more than one response. The other one does not process
// objects, because it gets none.
type DecodingListerWatcher struct {
	cache.ListerWatcherWithContext
	of      any // knows whether lists can be streamed
	wait    func()
	mask    *plan.Mask // nil: all fields are decoded
	packing func(held func(index.Key) *kept.Object) (*DecodingListerWatcher, error)
	keepers keepers // nil: objects are kept whole
}

var _ cache.ListerWatcher = (*DecodingListerWatcher)(nil)

// NewDecodingListerWatcher returns a DecodingListerWatcher that makes requests by lw, for
// objects of the type of example and of a kind. The example is of any API type, or
// *unstructured.Unstructured or *metav1.PartialObjectMetadata; objects have their kind set as
// with client-go's Reflectors under controller-runtime: those of the last two types, and
// objects in lists that contain it. The kind of the last two types may be empty: objects then
// have what client-go's dynamic and metadata clients give them.
//
// Objects are deduplicated with the result of held, the caller's current object of a key, and
// not at all if held is nil. It may be called by several goroutines at once, and must not keep
// the key, whose strings change later. Of the options, WithFields and WithoutFields can be used,
// and WithResource, to name the resource in messages.
//
// It returns an error if there can be none: the type is not one to decode into, its
// objects would be decoded as before, or an option cannot be used.
func NewDecodingListerWatcher(
	lw cache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind,
	held func(index.Key) (metav1.Object, bool), opts ...SourceOption,
) (*DecodingListerWatcher, error) {
	of := reflect.TypeOf(example)
	named, mask, err := maskOf(opts)
	switch {
	case err != nil:
	case lw == nil, example == nil:
		err = errors.New("ListerWatcher or example object is nil")
	default:
		err = mask.Check(of)
	}
	if err != nil {
		return nil, fmt.Errorf("decode objects of type %v: %w", of, err)
	}
	var d *DecodingListerWatcher
	switch example.(type) {
	case *unstructured.Unstructured:
		d, err = newDecodingListerWatcher[*unstructured.Unstructured](lw, of, kind, held, named, mask)
	case *metav1.PartialObjectMetadata:
		d, err = newDecodingListerWatcher[*metav1.PartialObjectMetadata](lw, of, kind, held, named, mask)
	default:
		d, err = newDecodingListerWatcher[apiObject](lw, of, kind, held, named, mask)
	}
	if err != nil {
		return nil, err
	}
	d.packing = func(held func(index.Key) *kept.Object) (*DecodingListerWatcher, error) {
		return packingListerWatcher(lw, example, kind, held, named)
	}
	return d, nil
}

// IsWatchListSemanticsUnSupported is how a Reflector asks whether lists can not be streamed.
func (d *DecodingListerWatcher) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(d.of)
}

// List implements cache.Lister.
func (d *DecodingListerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return d.ListWithContext(context.Background(), opts)
}

// Watch implements cache.Watcher.
func (d *DecodingListerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return d.WatchWithContext(context.Background(), opts)
}

// Omits reports whether a field is left out of objects, see source.Partial.
func (d *DecodingListerWatcher) Omits(field string) bool { return !d.mask.Has(field) }

// Wait waits until no watch is read from any more. Each has to be stopped before.
func (d *DecodingListerWatcher) Wait() { d.wait() }

// maskOf returns the resource and the mask of options that are about nothing else.
func maskOf(opts []SourceOption) (schema.GroupVersionResource, *plan.Mask, error) {
	config, err := newSourceConfig(opts)
	if err != nil {
		return schema.GroupVersionResource{}, nil, err
	}
	named, mask := config.rest.resource, config.rest.mask
	config.rest.options = slices.DeleteFunc(config.rest.options, func(name string) bool { return name == "WithResource" })
	if len(config.rest.options) == 0 {
		config.rest.options = nil
	}
	config.rest.resource = schema.GroupVersionResource{}
	config.rest.mask, config.rest.fields = nil, ""
	if !reflect.ValueOf(config).IsZero() {
		return schema.GroupVersionResource{}, nil, errors.New("only WithFields, WithoutFields and WithResource can be used if other code makes the requests")
	}
	return named, mask, nil
}

// decodingListerWatcher is a DecodingListerWatcher of objects of a type that is T or
// implements it.
type decodingListerWatcher[T apiObject] struct {
	requests  cache.ListerWatcherWithContext
	responses *restListerWatcher[T] // decodes, and requests nothing
	codecs    map[string]wire.Codec[T]
	mask      *plan.Mask
	undecoded func(ctx context.Context, resource string, reason error) // reports that the other one decodes; may be nil
	left      atomic.Bool                                              // nothing is decoded here any more
	bypassed  sync.Once                                                // logs that responses do not come here
}

func newDecodingListerWatcher[T apiObject](
	lw cache.ListerWatcher, of reflect.Type, kind schema.GroupVersionKind,
	held func(index.Key) (metav1.Object, bool), named schema.GroupVersionResource, mask *plan.Mask,
) (*DecodingListerWatcher, error) {
	var sharing wire.Held[T]
	if held != nil {
		sharing = func(namespace, name string) (T, bool) {
			untyped, found := held(index.Key{Namespace: namespace, Name: name})
			obj, ok := untyped.(T)
			return obj, found && ok
		}
	}
	codecs, err := codecsOf(of, sharing, mask)
	if err == nil {
		err = checkKnown(of, kind)
	}
	if err != nil && mask == nil { // else fields are left out of what the other one decodes
		return nil, fmt.Errorf("decode objects of type %v: %w", of, err)
	}
	if err != nil {
		codecs = nil
	}
	d := &decodingListerWatcher[T]{requests: cache.ToListerWatcherWithContext(lw), codecs: codecs, mask: mask}
	if held != nil {
		d.undecoded = logUndecoded
	}
	events, items := stampsOf[T](of, kind)
	d.responses = forReflector(nil, targetOf(of, kind, named), failing(of, kind, events, items))
	return &DecodingListerWatcher{ListerWatcherWithContext: d, of: lw, wait: d.responses.streams.Wait, mask: mask}, nil
}

// checkKnown returns an error if objects of a type, for a kind that is empty, can be of several.
func checkKnown(of reflect.Type, kind schema.GroupVersionKind) error {
	if kind.Empty() && !isOfAnyKind(of) {
		return errors.New("their kind is not known, or there are several")
	}
	return nil
}

// stampsOf returns what gives the objects of events and those of lists, of a type, their kind;
// nil: they keep what they have.
func stampsOf[T apiObject](of reflect.Type, kind schema.GroupVersionKind) (events, items func(T)) {
	if !isMetadata(of) {
		return stamp[T](schema.GroupVersionKind{}), nil
	}
	events = stamp[T](kind)
	if !kind.Empty() {
		items = events
	}
	return events, items
}

// targetOf returns what the responses are of. The name of a resource that is not given is a guess
// for messages.
func targetOf(of reflect.Type, kind schema.GroupVersionKind, named schema.GroupVersionResource) target {
	if named.Empty() {
		named, _ = meta.UnsafeGuessKindToResource(kind)
	}
	return target{of: of, resource: resource{named, kind}}
}

var (
	errBypassed = errors.New("requests bypass kube.DecodingTransport: call config.Wrap(kube.DecodingTransport) before the client is made")
	errCombined = errors.New("the ListerWatcher combines several responses: make one request for each list and watch")
)

// logUndecoded logs that the other one decodes.
func logUndecoded(ctx context.Context, resource string, reason error) {
	if errors.Is(reason, errBypassed) {
		klog.FromContext(ctx).Info("Deduplication is off, because requests bypass kube.DecodingTransport", "resource", resource)
		return
	}
	klog.FromContext(ctx).Info("Deduplication is off, because the ListerWatcher combines several responses", "resource", resource)
}

// codecsOf returns the codecs of all formats for objects of a type.
func codecsOf[T index.Object](of reflect.Type, held wire.Held[T], mask *plan.Mask) (map[string]wire.Codec[T], error) {
	types, err := wire.MediaTypesOf(of)
	if err != nil {
		return nil, err
	}
	if of == reflect.TypeFor[T]() {
		return newCodecs(types, nil, held, mask)
	}
	codecs := map[string]wire.Codec[T]{}
	for _, t := range types {
		if codecs[t], err = wire.NewCodecOf(t, of, held, mask); err != nil {
			return nil, err
		}
	}
	return codecs, nil
}

// codec returns what decodes a response, nil if nothing does, or other code decompresses it first.
func (d *decodingListerWatcher[T]) codec(response *http.Response) wire.Codec[T] {
	if coding := response.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return nil
	}
	return d.codecs[mediaType]
}

// ListWithContext implements cache.ListerWithContext. It decodes the list while the other
// ListerWatcher waits for its request, so all timeouts of that request apply.
func (d *decodingListerWatcher[T]) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if d.left.Load() {
		return d.maskedList(d.requests.ListWithContext(ctx, opts))
	}
	decoding, cancel := context.WithCancel(ctx)
	defer cancel()
	var decoded runtime.Object
	var decodingErr error
	t := &taker{take: func(response *http.Response) io.ReadCloser {
		codec := d.codec(response)
		if codec == nil {
			return nil
		}
		defer response.Body.Close() //nolint:errcheck // it has been read, or is given up
		decoded, decodingErr = d.responses.readList(decoding, cancel, response.Body, codec, opts)
		return emptyList(response, decoded)
	}}
	list, err := d.requests.ListWithContext(t.with(decoding), opts)
	switch taken, several := t.took(); {
	case !taken:
		d.checkOffered(ctx, t, err)
		return d.maskedList(list, err)
	case decodingErr != nil:
		return nil, decodingErr
	case several, err == nil && meta.LenList(list) > 0, err != nil && ctx.Err() == nil:
		// The other one has got an empty list, and makes something else of it.
		d.leaveAll(ctx)
		return d.maskedList(d.requests.ListWithContext(ctx, opts))
	default:
		return decoded, err
	}
}

// maskedList returns a list, which was decoded, without the fields that are left out.
func (d *decodingListerWatcher[T]) maskedList(list runtime.Object, err error) (runtime.Object, error) {
	if err == nil && d.mask != nil {
		err = meta.EachListItem(list, func(obj runtime.Object) error {
			d.mask.Apply(obj)
			return nil
		})
	}
	return list, err
}

// leaveAll leaves all that comes to the other one.
func (d *decodingListerWatcher[T]) leaveAll(ctx context.Context) {
	if !d.left.Swap(true) {
		d.reportUndecoded(ctx, errCombined)
	}
}

// checkOffered logs once that responses are not offered to a taker, if a request that it was made for
// has succeeded all the same.
func (d *decodingListerWatcher[T]) checkOffered(ctx context.Context, t *taker, err error) {
	if err != nil || t.offered() {
		return
	}
	d.bypassed.Do(func() { d.reportUndecoded(ctx, errBypassed) })
}

// reportUndecoded reports that the other one decodes.
func (d *decodingListerWatcher[T]) reportUndecoded(ctx context.Context, reason error) {
	if d.undecoded != nil {
		d.undecoded(ctx, d.responses.resource.String(), reason)
	}
}
