package informers

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
)

// namespaces returns the set that informers follow, nil if they follow none.
func (o *options) namespaces() *listwatch.Namespaces {
	if o.spaces != nil {
		o.spaces.OutOfScope = o.deletions
	}
	return o.spaces
}

// follows reports whether objects of a type are to follow the set of namespaces.
func (f *factory) follows(example runtime.Object) bool {
	return f.spaces != nil && (f.follow == nil || f.follow[reflect.TypeOf(example)])
}

// spacesOf returns the set of namespaces that the informer of a kind follows, nil if that is
// none.
func (f *factory) spacesOf(k kind) *listwatch.Namespaces {
	switch {
	case !f.follows(k.example):
		return nil
	case k.namespaced:
		return f.spaces
	case f.follow != nil:
		return &listwatch.Namespaces{Err: fmt.Errorf("WithNamespaces: objects of type %T are in no namespace: do not name it", k.example)}
	}
	return nil
}

var errUnstable = errors.New("alpha and beta kinds cannot follow a set of namespaces: use a factory without WithNamespaces for them")

// unstable makes an informer that cannot run.
func unstable(example runtime.Object) internalinterfaces.NewInformerFunc {
	return func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return adapters.NewSharedIndexInformer(&listwatch.Namespaces{Err: errUnstable}, example, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
}

// scopedInformer is a generic informer of namespaces.
type scopedInformer struct{ GenericInformer }

// Lister implements informers.GenericInformer.
func (i scopedInformer) Lister() cache.GenericLister {
	return listwatch.NamespaceErrors(i.GenericInformer.Lister(), i.Informer().GetIndexer())
}
