package kube

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/wire"
	"github.com/kubetyped/informer/typed/source"
)

// generatedClient is what client-go's generated clients have besides their methods
// for requests, see gentype.Client.
type generatedClient interface {
	GetClient() rest.Interface
	GetNamespace() string
}

// generatedSource returns a source that asks for what a generated client of client-go's
// clientset asks for, and decodes it itself; nil if the client is another one. Wrong
// options are told by the source of the client's methods.
func generatedSource[T index.Object](client any, opts []SourceOption) source.Source[T] {
	generated, ok := client.(generatedClient)
	if !ok {
		return nil
	}
	like, ok := generated.GetClient().(*rest.RESTClient)
	if !ok || like == nil {
		return nil
	}
	config, err := newSourceConfig(opts)
	if err != nil || config.rest.misplaced() != nil || wire.CheckType[T]() != nil {
		return nil
	}
	s := &restSource[T]{sourceConfig: config}
	if err := config.rest.mask.Check(reflect.TypeFor[T]()); err != nil {
		s.err = fmt.Errorf("source of %v: %w", reflect.TypeFor[T](), err)
		return s
	}
	if s.resource, ok = builtIn[T](); !ok || s.resource.GroupVersion() != like.APIVersion() {
		return nil
	}
	if s.client, err = likeRESTClient[T](like); err != nil {
		return nil
	}
	s.rest.namespace, s.host = generated.GetNamespace(), hostOfClient(like)
	return s
}

// builtIn returns the resource of a type of client-go's scheme. It returns false for
// others: only of these is the name of the resource known, which is made from the
// kind.
func builtIn[T index.Object]() (resource, bool) {
	kind, err := registeredKind[T](scheme.Scheme)
	if err != nil || kind.Empty() {
		return resource{}, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return resource{plural, kind}, true
}
