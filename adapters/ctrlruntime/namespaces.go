package ctrlruntime

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// WithNamespaces makes the cache follow a set of namespaces, which may change at any time: the
// kinds of the examples, or all kinds without any. Kinds whose objects are in no namespace stay
// as they are.
//
//	tenants := source.NewNamespaces("tenant-a", "tenant-b")
//	options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithNamespaces(tenants))
//	…
//	err := tenants.Add("tenant-c") // while the manager runs
//
// There is one informer a kind, with one list and watch for each namespace: handlers and
// indexes are added once.
//
//  1. Get and List of a namespace that is not in the set, or not listed yet, return an error
//     that is source.ErrOutside or source.ErrUnlisted. List of all namespaces has the objects of
//     those that were listed.
//  2. Controllers get no deletions when a namespace leaves the set, see WithOutOfScopeDeletions;
//     if it comes again, its objects are added again.
//  3. A namespace that may not be listed (403) is in the status of the informer, in the log,
//     once, and in the readiness check of Inspect, which does not fail for it. It keeps the
//     manager from starting until that answer, and is listed when that is allowed. Optional
//     does not change that.
//  4. Transforms are called for one object of a kind at a time, handlers of watch errors for
//     several namespaces at the same time.
//  5. The version of an informer is the lowest of those of its namespaces. So
//     EnableReadYourWritesConsistency is refused: use WithOwnWrites.
//
// It is an error if the set is nil or has a name that cannot be that of a namespace, if the
// objects of an example are in no namespace, and if the cache has DefaultNamespaces, or a kind that
// follows the set has Namespaces in ByObject or a field selector of metadata.namespace.
func WithNamespaces(set *source.Namespaces, examples ...client.Object) CacheOption {
	return func(s *settings) error {
		if set == nil {
			return errors.New("WithNamespaces: set is nil")
		}
		if err := s.setNamespaces(set, examples); err != nil {
			return fmt.Errorf("WithNamespaces: %w", err)
		}
		return nil
	}
}

// WithOutOfScopeDeletions makes controllers get the deletions of a namespace's objects when it
// leaves the set of WithNamespaces. The objects may exist still, and reads of the namespace
// return an error.
func WithOutOfScopeDeletions() CacheOption {
	return func(s *settings) error {
		s.deletions = true
		return nil
	}
}

func (s *settings) setNamespaces(set *source.Namespaces, examples []client.Object) error {
	if s.namespaces != nil {
		return errors.New("the option is there twice")
	}
	for _, name := range set.All() {
		if err := set.Err(name); errors.Is(err, source.ErrOutside) {
			continue // it has left meanwhile
		} else if err != nil {
			return err
		}
	}
	s.namespaces, s.followers = set, map[schema.GroupVersionKind]client.Object{}
	for _, example := range examples {
		if example == nil {
			return errors.New("example is nil")
		}
		kind, err := apiutil.GVKForObject(example, s.scheme)
		if err != nil {
			return err
		}
		s.followers[kind] = example
	}
	return nil
}

// mayFollow reports whether a kind is to follow the set of namespaces if its objects are in any.
func (s *settings) mayFollow(kind schema.GroupVersionKind) bool {
	return s.namespaces != nil && (len(s.followers) == 0 || s.followers[kind] != nil)
}

// checkNamespaces returns an error if the options of a cache exclude WithNamespaces.
func (s *settings) checkNamespaces(o *cache.Options) error {
	switch {
	case s.namespaces == nil && s.deletions:
		return errors.New("WithOutOfScopeDeletions is for a cache with WithNamespaces")
	case s.namespaces == nil:
		return nil
	case len(o.DefaultNamespaces) > 0:
		return errors.New("WithNamespaces and DefaultNamespaces exclude each other: use one of the two")
	case hasNamespace(o.DefaultFieldSelector):
		return fmt.Errorf("WithNamespaces: DefaultFieldSelector %q selects a namespace: leave that out", o.DefaultFieldSelector)
	}
	for obj, by := range o.ByObject {
		kind, err := apiutil.GVKForObject(obj, s.scheme)
		switch {
		case err != nil:
			return err
		case !s.mayFollow(kind):
		case len(by.Namespaces) > 0:
			return fmt.Errorf("WithNamespaces and Namespaces of %T in ByObject exclude each other: use one of the two, or name other kinds in WithNamespaces", obj)
		case hasNamespace(by.Field):
			return fmt.Errorf("WithNamespaces: field selector %q of %T in ByObject selects a namespace: leave that out", by.Field, obj)
		}
	}
	return nil
}

func hasNamespace(selector fields.Selector) bool {
	return selector != nil && slices.ContainsFunc(selector.Requirements(), func(r fields.Requirement) bool { return r.Field == "metadata.namespace" })
}

// checkExamples returns an error if the objects of an example of WithNamespaces are in no
// namespace, as far as the server has its kind.
func (s *settings) checkExamples() error {
	for kind, example := range s.followers {
		if namespaced, err := apiutil.IsGVKNamespaced(kind, s.mapper); err == nil && !namespaced {
			return errClusterScoped(example)
		} else if err != nil && !isNotServed(err) {
			return fmt.Errorf("WithNamespaces: %w", err)
		}
	}
	return nil
}

func errClusterScoped(example client.Object) error {
	return fmt.Errorf("WithNamespaces: objects of type %T are in no namespace: do not name it", example)
}

// follows reports whether a kind, which the server has, follows the set of namespaces.
func (s *settings) follows(kind schema.GroupVersionKind) (bool, error) {
	switch {
	case s.namespaces == nil:
		return false, nil
	case kind.Empty():
		if len(s.followers) > 0 {
			return false, nil
		}
		return false, errors.New("WithNamespaces: the Go type is registered with several kinds: name the kinds that follow the set")
	case !s.mayFollow(kind):
		return false, nil
	}
	namespaced, err := apiutil.IsGVKNamespaced(kind, s.mapper)
	if err == nil && !namespaced && s.followers[kind] != nil {
		return false, errClusterScoped(s.followers[kind])
	}
	return namespaced, err
}

// spacesOf returns the set of namespaces that a kind follows, nil if it follows none.
func (s *settings) spacesOf(kind schema.GroupVersionKind) *listwatch.Namespaces {
	follows, err := s.follows(kind)
	if err == nil && !follows {
		return nil
	}
	return &listwatch.Namespaces{Set: s.namespaces, OutOfScope: s.deletions, NamespaceOf: namespaceOfIndex, Refuse: refuseInNamespaces, Err: err}
}

// isOptional reports whether an answer 403 to a request for a kind is one about the kind: it is
// one about a namespace if the kind follows a set.
func (s *settings) isOptional(kind schema.GroupVersionKind) bool {
	if !s.optional[kind] {
		return false
	}
	follows, err := s.follows(kind)
	return !follows && err == nil
}

// namespaceOfIndex returns the namespace in a value of an index of IndexField, "" if it is for all.
func namespaceOfIndex(index, value string) string {
	if !strings.HasPrefix(index, "field:") {
		return ""
	}
	namespace, _, _ := strings.Cut(value, "/")
	if strings.HasPrefix(namespace, "__") { // no namespace is called so
		return ""
	}
	return namespace
}

var errConsistencyInNamespaces = errors.New("EnableReadYourWritesConsistency and WithNamespaces exclude each other: use WithOwnWrites")

// refuseInNamespaces returns an error for a handler of the blocking client.
func refuseInNamespaces(handler any) error {
	if refuseConsistency(handler) != nil {
		return errConsistencyInNamespaces
	}
	return nil
}

// passedOver returns the failures of namespaces that keep no informer from being synced.
func (c *managerCache) passedOver() (errs []error) {
	for _, informer := range c.Informers() {
		s := informer.Status()
		if s.Phase == report.PhaseSynced && errors.Is(s.Err, source.ErrPassedOver) {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, s.Err))
		}
	}
	return errs
}
