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

// keepers make objects of what was decoded, and its bytes, by media type.
type keepers map[string]keeper

// keeper makes an object that is kept as bytes. Event tells that it came as an event.
type keeper func(obj kept.Whole, bytes []byte, event bool) *kept.Object

// Keep returns an object that was decoded from an answer to a write, in a media type, as the
// ListerWatcher has its objects: as its bytes, if those of [NewPackingListerWatcher] can be kept.
func (d *DecodingListerWatcher) Keep(mediaType string, obj metav1.Object, bytes []byte) metav1.Object {
	whole, ok := obj.(kept.Whole)
	if keep := d.keepers[mediaType]; ok && keep != nil {
		return keep(whole, bytes, true)
	}
	return obj
}

// NewPackingListerWatcher does as NewDecodingListerWatcher, for package adapters: its objects are
// kept as bytes, and share those with what held returns for their key, nil if nothing. What the
// other one decodes is whole. The log says so, once.
func NewPackingListerWatcher(
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
	d := &decodingListerWatcher[*kept.Object]{
		requests: cache.ToListerWatcherWithContext(lw), codecs: codecs, undecoded: reportWhole,
	}
	d.responses.receive(of, kind, named)
	d.responses.stamp = func(*kept.Object) {} // the codecs do that
	return &DecodingListerWatcher{
		ListerWatcherWithContext: d, of: lw, wait: d.responses.streams.Wait,
		omits: func(string) bool { return false }, keepers: keepers,
	}, nil
}

// NewPackingClient does as NewDecodingClient, with objects that are kept as bytes, as those of
// NewPackingListerWatcher.
func NewPackingClient[T index.Object, L runtime.Object](client Client[T, L], held func(index.Key) *kept.Object) (*DecodingListerWatcher, error) {
	generated, of, err := generatedREST[T](client)
	if err != nil {
		return nil, err
	}
	if !reflect.TypeFor[T]().Implements(reflect.TypeFor[kept.Whole]()) {
		return nil, fmt.Errorf("a %v is no object of the API", reflect.TypeFor[T]())
	}
	bare := func(obj kept.Whole) { obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) }
	codecs, keepers := keeping(generated.codecs, kept.Stamps{Event: bare, Item: bare}, held)
	lw := &restListerWatcher[*kept.Object]{client: &restClient[*kept.Object]{
		Interface: generated.Interface, accept: generated.accept, partial: generated.partial, codecs: codecs,
	}}
	lw.receive(reflect.TypeFor[T](), of.kind, of.GroupVersionResource)
	lw.stamp = func(*kept.Object) {} // the codecs do that
	lw.config.namespace = any(client).(generatedClient).GetNamespace()
	return &DecodingListerWatcher{
		ListerWatcherWithContext: lw, of: lw, wait: lw.streams.Wait,
		omits: func(string) bool { return false }, keepers: keepers,
	}, nil
}

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

// keeping returns codecs that keep the bytes of what others decode, whose T is a kept.Whole.
func keeping[T any](whole map[string]wire.Codec[T], stamps kept.Stamps, held func(index.Key) *kept.Object) (map[string]wire.Codec[*kept.Object], keepers) {
	codecs, keepers := map[string]wire.Codec[*kept.Object]{}, keepers{}
	for mediaType, codec := range whole {
		form := kept.NewForm(func(bytes []byte) (kept.Whole, error) {
			obj, err := codec.Item(bytes)
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
	utilruntime.HandleErrorWithContext(ctx, reason, "Objects are kept whole, though they are to be kept as bytes", "resource", resource)
}
