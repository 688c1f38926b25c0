package adapters

import (
	"fmt"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// scope is which namespaces of an informer can be read. The methods of nil allow all.
type scope struct {
	of     source.Scoped
	in     func(index, value string) string // see listwatch.Namespaces; nil: no index
	synced <-chan struct{}                  // of the informer
	ready  atomic.Bool                      // synced was closed
}

// stay returns the number of a namespace's stay, an error if objects may be missing.
func (s *scope) stay(namespace string) (uint64, error) {
	stay, err := s.of.Stay(namespace)
	if err == nil && !s.ready.Load() {
		if !isClosed(s.synced) {
			return 0, &source.NamespaceError{Namespace: namespace, Err: source.ErrUnlisted}
		}
		s.ready.Store(true)
	}
	return stay, err
}

// stays returns an error if a namespace has left since a read began.
func (s *scope) stays(namespace string, stay uint64) error {
	now, err := s.stay(namespace)
	if err == nil && now != stay {
		err = &source.NamespaceError{Namespace: namespace, Err: source.ErrUnlisted}
	}
	return err
}

// namespaceOf returns the namespace that a value of an index is limited to, "" if it is to none.
func (s *scope) namespaceOf(index, value string) string {
	switch {
	case s == nil:
		return ""
	case index == cache.NamespaceIndex:
		return value
	case s.in != nil:
		return s.in(index, value)
	}
	return ""
}

// begin begins to read the objects of a value of an index.
func (s *scope) begin(index, value string) (stay uint64, err error) {
	if namespace := s.namespaceOf(index, value); namespace != "" {
		return s.stay(namespace)
	}
	return 0, nil
}

// end ends what begin has begun.
func (s *scope) end(index, value string, stay uint64) error {
	if namespace := s.namespaceOf(index, value); namespace != "" {
		return s.stays(namespace, stay)
	}
	return nil
}

// getInScope does as GetByKey where objects may be missing.
func (x *indexer[T]) getInScope(key index.Key) (item any, exists bool, err error) {
	stay, err := x.scope.stay(key.Namespace)
	if err == nil {
		if item, exists, err = x.found(x.store.Get(key)); exists {
			return item, exists, err
		}
		err = x.scope.stays(key.Namespace, stay)
	}
	if err != nil {
		err = fmt.Errorf("get %q: %w", key, err)
	}
	return nil, false, err
}
