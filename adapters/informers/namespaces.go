package informers

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
)

// spacesOf returns the set of namespaces that the informer of a kind follows, nil if that is
// none.
func (f *factory) spacesOf(k kind) *listwatch.Namespaces {
	spaces := f.following.Of(reflect.TypeOf(k.example))
	switch {
	case spaces == nil || spaces.Err != nil || k.namespaced:
		return spaces
	case f.following.FollowsAll():
		return nil
	}
	return &listwatch.Namespaces{Err: fmt.Errorf("WithNamespaces: objects of type %T are in no namespace: do not name it", k.example)}
}

// followsUnstable reports whether a resource, which is none of kinds, is to follow the set.
func (f *factory) followsUnstable(resource schema.GroupVersionResource) bool {
	if f.following.Err != nil {
		return false
	}
	for named := range f.following.Named() {
		example, ok := reflect.New(named.Elem()).Interface().(runtime.Object)
		if _, stable := kinds().byType[named]; ok && !stable && resourceOf(example) == resource {
			return true
		}
	}
	return f.following.FollowsAll()
}

// isOfClientGo reports whether the type of an example, which may be nil, is one of client-go's
// scheme.
func isOfClientGo(example runtime.Object) bool {
	if example == nil {
		return false
	}
	_, _, err := scheme.Scheme.ObjectKinds(example)
	return err == nil
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
