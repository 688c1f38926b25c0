package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubetyped/informer/internal/monitor"
)

// Namespaces is a set of namespaces that informers follow, see FromNamespaces.
// It may change at any time; any number of informers may follow one set. Its
// methods are safe for concurrent use and do not wait for informers. The zero
// Namespaces is empty.
type Namespaces struct {
	err error // what was wrong with the arguments of NewNamespaces

	mu    sync.RWMutex
	names sets.Set[string] // guarded by mu

	followers monitor.Waiters // of the set
}

// NewNamespaces returns a set of the given namespaces. If one of the names cannot
// be that of a namespace, Run of the informers that follow the set returns an
// error.
func NewNamespaces(names ...string) *Namespaces {
	return &Namespaces{err: checkNamespaces(names), names: sets.New(names...)}
}

// All returns the names of the namespaces, sorted. The slice is the caller's.
func (n *Namespaces) All() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Sorted(maps.Keys(n.names))
}

// Has reports whether a namespace is in the set.
func (n *Namespaces) Has(namespace string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.names.Has(namespace)
}

// Err returns nil if a namespace is in the set, and otherwise a *NamespaceError that is
// ErrOutside: what informers do not have of it may exist nevertheless. If NewNamespaces was
// given a name that cannot be that of a namespace, or there is no set, Err returns that error.
func (n *Namespaces) Err(namespace string) error {
	switch {
	case n == nil:
		return errNoSet
	case n.err != nil:
		return n.err
	case !n.Has(namespace):
		return &NamespaceError{Namespace: namespace, Err: ErrOutside}
	}
	return nil
}

var errNoSet = errors.New("set of namespaces is nil")

// Add adds namespaces, of which some may be in the set already. It returns an
// error, and adds none, if a name cannot be that of a namespace.
func (n *Namespaces) Add(names ...string) error {
	if err := checkNamespaces(names); err != nil {
		return err
	}
	n.change(func(set sets.Set[string]) { set.Insert(names...) })
	return nil
}

// Remove removes namespaces, of which some may not be in the set.
func (n *Namespaces) Remove(names ...string) {
	n.change(func(set sets.Set[string]) { set.Delete(names...) })
}

// Set makes the set consist of the given namespaces. It returns an error, and
// changes nothing, if a name cannot be that of a namespace.
func (n *Namespaces) Set(names ...string) error {
	if err := checkNamespaces(names); err != nil {
		return err
	}
	n.change(func(set sets.Set[string]) { set.Clear().Insert(names...) })
	return nil
}

// change lets a function change the set, and wakes its followers.
func (n *Namespaces) change(by func(set sets.Set[string])) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = sets.New[string]()
	}
	by(n.names)
	n.followers.Wake()
}

// checkNamespaces returns what is wrong with names of namespaces.
func checkNamespaces(names []string) error {
	var errs []error
	for _, name := range names {
		if name == "" {
			errs = append(errs, errors.New(`"" stands for all namespaces, and cannot be one of several`))
		} else if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("%q cannot be the name of a namespace: %s", name, strings.Join(wrong, ", ")))
		}
	}
	return errors.Join(errs...)
}
