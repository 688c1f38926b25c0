package kube

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/typed/source"
)

// generatedClient is what client-go's generated clients have besides their methods
// for requests, see gentype.Client.
type generatedClient interface {
	GetClient() rest.Interface
	GetNamespace() string
}

// generatedSource returns a source that makes the requests of a generated client of client-go's
// clientset, and decodes the responses itself; nil for another client. It also returns nil for
// wrong options: the source of the client's methods reports them.
func generatedSource[T index.Object](client any, opts []SourceOption) source.Source[T] {
	generated, of, err := generatedREST[T](client)
	if err != nil {
		return nil
	}
	config, err := newSourceConfig(opts)
	if err != nil || config.rest.misplaced() != nil {
		return nil
	}
	generated.compressed = config.rest.compressed
	s := &restSource[T]{client: generated}
	s.restResource = restResource{sourceConfig: config, of: reflect.TypeFor[T](), resource: of, server: generated.requests}
	if err := config.rest.mask.Check(reflect.TypeFor[T]()); err != nil {
		s.err = fmt.Errorf("source of %v: %w", s.of, err)
		return s
	}
	s.rest.namespace, s.host = client.(generatedClient).GetNamespace(), hostOfClient(generated.requests)
	if s.name != nil {
		_, s.err = s.Named()
	}
	return s
}

// generatedREST returns a client that makes the requests of a generated client of client-go's
// clientset, and the resource of these requests. The error says why there is none: the client
// is another one, or its objects are of another type.
func generatedREST[T index.Object](client any) (*restClient[T], resource, error) {
	generated, ok := client.(generatedClient)
	if !ok || !isClientGos(client) {
		return nil, resource{}, fmt.Errorf("a %T is no client of client-go's clientset", client)
	}
	like, ok := generated.GetClient().(*rest.RESTClient)
	if !ok || like == nil {
		return nil, resource{}, fmt.Errorf("a %T asks no API server", client)
	}
	if err := wire.CheckType(reflect.TypeFor[T]()); err != nil {
		return nil, resource{}, err
	}
	of, ok := builtIn(reflect.TypeFor[T]())
	if !ok || of.GroupVersion() != like.APIVersion() {
		return nil, resource{}, fmt.Errorf("client-go's scheme has no %v in %s", reflect.TypeFor[T](), like.APIVersion())
	}
	own, err := likeRESTClient[T](like)
	return own, of, err
}

// isClientGos reports whether a client is of a type of client-go's. A struct that embeds one
// has the same methods, but may replace some of them.
func isClientGos(client any) bool {
	of := reflect.TypeOf(client)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return strings.HasPrefix(of.PkgPath(), "k8s.io/client-go/")
}

// builtIn returns the resource of a type, a pointer, of client-go's scheme. It returns false for
// others: only of these is the name of the resource known, which is made from the
// kind.
func builtIn(of reflect.Type) (resource, bool) {
	kind, err := registeredKind(scheme.Scheme, of)
	if err != nil || kind.Empty() {
		return resource{}, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return resource{plural, kind}, true
}
