package source

import (
	"errors"
	"fmt"
	"sync"
)

// Scoped is a Source of some namespaces, such as that of FromNamespaces, for code that reads
// an informer and must not take an object for deleted that may exist.
type Scoped interface {
	// Stay returns nil if all objects of a namespace have been listed that is in the set,
	// and otherwise a *NamespaceError that is ErrOutside or ErrUnlisted. The number is
	// another one after the namespace has left the set. So what reads do not find between
	// two calls that return the same number, and no error, does not exist. It can be read when
	// handlers are called for the objects. The informer has to be on this source itself, or on
	// a Map or FilterMap of it.
	//
	// It takes no lock that is held while something is reported, and is safe for concurrent
	// use.
	Stay(namespace string) (stay uint64, err error)
}

// Stay implements Scoped.
func (s *namespacesSource[T]) Stay(namespace string) (uint64, error) {
	if err := s.namespaces.Err(namespace); err != nil {
		return 0, err
	}
	return s.stays.of(namespace)
}

// stays is which namespaces have been listed.
type stays struct {
	mu     sync.RWMutex
	last   uint64           // guarded by mu; the number of the last stay
	byName map[string]*stay // guarded by mu
}

// stay is the time of a namespace in the set. Its fields are guarded by mu of the stays.
type stay struct {
	number uint64
	listed bool
	err    error // why it cannot be listed; nil: nothing is known
}

// enter begins the stay of a namespace.
func (s *stays) enter(namespace string) *stay {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]*stay{}
	}
	s.last++
	begun := &stay{number: s.last}
	s.byName[namespace] = begun
	return begun
}

// leave ends the stay of a namespace. It comes before reads lose its objects.
func (s *stays) leave(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, namespace)
}

// list notes that the objects of a stay have been listed, when reads have them.
func (s *stays) list(of *stay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.listed, of.err = true, nil
}

// fail notes why the objects of a stay cannot be listed.
func (s *stays) fail(of *stay, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.err = err
}

// of returns the stay of a namespace, an error if that was not listed yet. Why it was not, is
// text, unless it is passed over: a kind that a server does not have is no object that there
// is not.
func (s *stays) of(namespace string) (uint64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.byName[namespace]
	switch {
	case now == nil:
		return 0, &NamespaceError{Namespace: namespace, Err: ErrUnlisted}
	case now.listed:
		return now.number, nil
	case now.err == nil:
		return 0, &NamespaceError{Namespace: namespace, Err: ErrUnlisted}
	case errors.Is(now.err, ErrPassedOver):
		return 0, &NamespaceError{Namespace: namespace, Err: fmt.Errorf("%w: %w", ErrUnlisted, now.err)}
	}
	return 0, &NamespaceError{Namespace: namespace, Err: fmt.Errorf("%w: %v", ErrUnlisted, now.err)}
}
