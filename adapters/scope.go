package adapters

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// scope is which namespaces of an informer can be read. The methods of nil allow all.
type scope struct {
	source.Scoped
	in func(index, value string) string // see listwatch.Namespaces; nil: no index
}

// stays returns an error if a namespace has left since a read began.
func (s *scope) stays(namespace string, stay uint64) error {
	now, err := s.Stay(namespace)
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
		return s.Stay(namespace)
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
	stay, err := x.scope.Stay(key.Namespace)
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
