package kube

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
)

// NewDecodingClient returns a DecodingListerWatcher that makes the requests of a client of
// client-go's own clientset, as FromClient does, and decodes all responses. It asks for protobuf,
// or else JSON, whatever the client asks for, and for watches that are not compressed. For any
// other client, such as fake ones, the error reports what is in the way; they list and watch by
// their methods.
//
// Items of lists, which are of no API type, and objects of events that are no bookmarks and errors
// are T's. One that cannot be decoded is an error, and ends a watch with an event that is one, as
// with the generated client. Objects are deduplicated with the result of held, the caller's current
// object of a key. held may be called by several goroutines at once.
func NewDecodingClient[T index.Object, L runtime.Object](client Client[T, L], held func(index.Key) (T, bool)) (*DecodingListerWatcher, error) {
	generated, of, err := generatedREST[T](client)
	if err != nil {
		return nil, err
	}
	decoding, err := generated.decoding(nil, held)
	if err != nil {
		return nil, err
	}
	lw := &restListerWatcher[T]{
		client: decoding, of: reflect.TypeFor[T](), resource: of, expected: of.kind, reports: unreported{}, strict: true,
		stamp: stamp[T](schema.GroupVersionKind{}),
	}
	lw.stampItem = lw.stamp
	lw.config.namespace = any(client).(generatedClient).GetNamespace()
	lw.breaks.between = requestConfig{}.refused()
	return &DecodingListerWatcher{ListerWatcherWithContext: lw, of: lw, wait: lw.streams.Wait, omits: func(string) bool { return false }}, nil
}

// unreported is a reporter for a Reflector, which finds out for itself.
type unreported struct{}

func (unreported) Progress(int, int) {}

func (unreported) Report(error) {}
