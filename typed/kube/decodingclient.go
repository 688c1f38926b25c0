package kube

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/index"
)

// DecodingClient lists and watches with the requests of a generated client, as FromClient
// does, for a Reflector of client-go that other code runs. It decodes objects itself, on all
// cores, and deduplicates them, see WithoutDeduplication. It asks for protobuf, or else JSON,
// whatever the client asks for, and for watches that are not compressed. It is for one
// Reflector.
type DecodingClient[T index.Object] struct{ lw restListerWatcher[T] }

// NewDecodingClient returns a DecodingClient for a client of client-go's own clientset that
// asks an API server. For any other client, such as fake ones, the error reports what is in
// the way; they list and watch by their methods.
//
// Objects are deduplicated with the result of held, the caller's current object of a key. held
// may be called by several goroutines at once.
func NewDecodingClient[T index.Object, L runtime.Object](client Client[T, L], held func(index.Key) (T, bool)) (*DecodingClient[T], error) {
	generated, of, err := generatedREST[T](client)
	if err != nil {
		return nil, err
	}
	decoding, err := generated.decoding(nil, held)
	if err != nil {
		return nil, err
	}
	c := &DecodingClient[T]{restListerWatcher[T]{
		client: decoding, of: reflect.TypeFor[T](), resource: of, expected: of.kind, reports: unreported{}, strict: true,
		stamp: stamp[T](schema.GroupVersionKind{}),
	}}
	c.lw.stampItem = c.lw.stamp
	c.lw.config.namespace = any(client).(generatedClient).GetNamespace()
	c.lw.breaks.between = requestConfig{}.refused()
	return c, nil
}

// List lists objects. The items of the list, which is of no API type, are T's. An object
// that cannot be decoded is an error, as of the generated client.
func (c *DecodingClient[T]) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return c.lw.ListWithContext(ctx, opts)
}

// Watch watches objects. The objects of events that are no bookmarks and errors are T's.
// An object that cannot be decoded ends the watch with an event that is an error, as of
// the generated client.
func (c *DecodingClient[T]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.lw.WatchWithContext(ctx, opts)
}

// Wait waits until no watch is read from any more. Each has to be stopped before.
func (c *DecodingClient[T]) Wait() { c.lw.streams.Wait() }

// unreported is a reporter for a Reflector, which finds out for itself.
type unreported struct{}

func (unreported) Progress(int, int) {}

func (unreported) Report(error) {}
