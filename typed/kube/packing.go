package kube

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// keepers make objects of decoded ones and their bytes, by media type.
type keepers map[string]keeper

// keeper makes an object that is kept as bytes. Event is true for objects of events.
type keeper func(obj kept.Whole, bytes []byte, event bool) *kept.Object

// Keep returns an object that was decoded from an answer to a write, in a media type, in the form
// of the objects of the ListerWatcher: as bytes, if that is the result of Packing.
func (d *DecodingListerWatcher) Keep(mediaType string, obj metav1.Object, bytes []byte) metav1.Object {
	whole, ok := obj.(kept.Whole)
	if keep := d.keepers[mediaType]; ok && keep != nil {
		return keep(whole, bytes, true)
	}
	return obj
}

// Packing returns a DecodingListerWatcher for package adapters that makes the same requests, and
// keeps objects as bytes. They share those with the object that held returns for their key, which
// may be nil. Objects that the other one decodes are whole, which is reported once.
func (d *DecodingListerWatcher) Packing(held func(index.Key) *kept.Object) (*DecodingListerWatcher, error) {
	return d.packing(held)
}

// packingListerWatcher implements Packing of a NewDecodingListerWatcher.
func packingListerWatcher(
	lw cache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind, held func(index.Key) *kept.Object, named schema.GroupVersionResource,
) (*DecodingListerWatcher, error) {
	of := reflect.TypeOf(example)
	var codecs map[string]wire.Codec[*kept.Object]
	var keepers keepers
	err := checkKnown(of, kind)
	switch {
	case err != nil:
	case of == reflect.TypeFor[*unstructured.Unstructured]():
		codecs, keepers, err = packingCodecs[*unstructured.Unstructured](of, kind, held)
	case isMetadata(of):
		codecs, keepers, err = packingCodecs[*metav1.PartialObjectMetadata](of, kind, held)
	default:
		codecs, keepers, err = packingCodecs[apiObject](of, kind, held)
	}
	if err != nil {
		return nil, fmt.Errorf("keep objects of type %v as bytes: %w", of, err)
	}
	d := &decodingListerWatcher[*kept.Object]{requests: cache.ToListerWatcherWithContext(lw), codecs: codecs, undecoded: reportWhole}
	d.responses = forReflector(nil, targetOf(of, kind, named), failing(of, kind, stampedByCodec, nil))
	return &DecodingListerWatcher{ListerWatcherWithContext: d, of: lw, wait: d.responses.streams.Wait, keepers: keepers}, nil
}

// packingClient implements Packing of a NewDecodingClient.
func packingClient[T index.Object](generated *restClient[T], of target, held func(index.Key) *kept.Object) (*DecodingListerWatcher, error) {
	if !reflect.TypeFor[T]().Implements(reflect.TypeFor[kept.Whole]()) {
		return nil, fmt.Errorf("a %v is no object of the API", reflect.TypeFor[T]())
	}
	bare := func(obj kept.Whole) { obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) }
	codecs, keepers := keeping(generated.codecs, kept.Stamps{Event: bare, Item: bare}, held)
	client := &restClient[*kept.Object]{requester{requests: generated.requests, accept: generated.accept, partial: generated.partial}, codecs}
	lw := forReflector(client, of, failing(of.of, of.resource.kind, stampedByCodec, nil))
	return &DecodingListerWatcher{ListerWatcherWithContext: lw, of: lw, wait: lw.streams.Wait, keepers: keepers}, nil
}

// stampedByCodec leaves an object alone whose codec has given it its kind.
func stampedByCodec(*kept.Object) {}

// packingCodecs returns what decodes objects of a type, which is T or implements it, and keeps
// their bytes.
func packingCodecs[T apiObject](of reflect.Type, kind schema.GroupVersionKind, held func(index.Key) *kept.Object) (map[string]wire.Codec[*kept.Object], keepers, error) {
	whole, err := codecsOf[T](of, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	events, items := stampsOf[T](of, kind)
	stamps := kept.Stamps{Event: func(obj kept.Whole) { events(obj.(T)) }}
	if items != nil {
		stamps.Item = func(obj kept.Whole) { items(obj.(T)) }
	}
	codecs, keepers := keeping(whole, stamps, held)
	return codecs, keepers, nil
}

// keeping returns codecs that keep the bytes of objects that others decode. T is a kept.Whole.
func keeping[T any](whole map[string]wire.Codec[T], stamps kept.Stamps, held func(index.Key) *kept.Object) (map[string]wire.Codec[*kept.Object], keepers) {
	codecs, keepers := map[string]wire.Codec[*kept.Object]{}, keepers{}
	for mediaType, codec := range whole {
		form := kept.NewForm(func(bytes []byte, like kept.Whole) (kept.Whole, error) {
			of, _ := any(like).(T) // nil if there is none
			obj, err := wire.ItemLike(codec, bytes, of)
			if err != nil {
				return nil, err
			}
			return any(obj).(kept.Whole), nil
		}, stamps)
		keep := func(obj kept.Whole, bytes []byte, event bool) *kept.Object {
			return form.Keep(obj, bytes, event, held(index.KeyOf(obj)))
		}
		keepers[mediaType] = keep
		codecs[mediaType] = wire.Mapped(codec, func(obj T, bytes []byte, event bool) *kept.Object {
			return keep(any(obj).(kept.Whole), bytes, event)
		})
	}
	return codecs, keepers
}

// reportWhole reports that objects are kept whole, because the other one decodes them.
func reportWhole(ctx context.Context, resource string, reason error) {
	utilruntime.HandleErrorWithContext(ctx, reason, "Packed objects are kept whole", "resource", resource)
}
