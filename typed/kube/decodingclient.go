package kube

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
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
// object of a key. held may be called by several goroutines at once, and must not keep the key.
func NewDecodingClient[T index.Object, L runtime.Object](client Client[T, L], held func(index.Key) (T, bool)) (*DecodingListerWatcher, error) {
	generated, asked, err := generatedREST[T](client)
	if err != nil {
		return nil, err
	}
	decoding, err := generated.decoding(nil, held)
	if err != nil {
		return nil, err
	}
	none := stamp[T](schema.GroupVersionKind{})
	of := target{of: reflect.TypeFor[T](), resource: asked, namespace: any(client).(generatedClient).GetNamespace()}
	lw := forReflector(decoding, of, failing(of.of, asked.kind, none, none))
	return &DecodingListerWatcher{
		ListerWatcherWithContext: lw, of: lw, wait: lw.streams.Wait,
		packing: func(held func(index.Key) *kept.Object) (*DecodingListerWatcher, error) {
			return packingClient(generated, of, held)
		},
	}, nil
}
