package listwatch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// NamespaceErrors returns a lister that lists a namespace as another one does, but returns the
// error of the indexer, which client-go's listers leave out, where that cannot be read.
func NamespaceErrors(of cache.GenericLister, indexer cache.Indexer) cache.GenericLister {
	return lister{of, indexer}
}

type lister struct {
	cache.GenericLister
	indexer cache.Indexer
}

// ByNamespace implements cache.GenericLister.
func (l lister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	of := l.GenericLister.ByNamespace(namespace)
	if namespace == "" {
		return of
	}
	return namespaceLister{of, l.indexer, namespace}
}

type namespaceLister struct {
	cache.GenericNamespaceLister
	indexer   cache.Indexer
	namespace string
}

// List implements cache.GenericNamespaceLister.
func (l namespaceLister) List(selector labels.Selector) (found []runtime.Object, err error) {
	objs, err := l.indexer.ByIndex(cache.NamespaceIndex, l.namespace)
	if err != nil {
		return nil, err
	}
	for _, untyped := range objs {
		obj, ok := untyped.(runtime.Object)
		if !ok {
			return nil, fmt.Errorf("list namespace %s: a %T is no object", l.namespace, untyped)
		}
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		if selector.Matches(labels.Set(accessor.GetLabels())) {
			found = append(found, obj)
		}
	}
	return found, nil
}
