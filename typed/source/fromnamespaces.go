package source

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
)

// FromNamespaces returns a source of the objects in a set of namespaces, for
// programs that must not, or need not, see all of them:
//
//	tenants := source.NewNamespaces("tenant-a", "tenant-b")
//	pods := typed.NewInformer(source.FromNamespaces(tenants, func(namespace string) source.Source[*corev1.Pod] {
//		return kube.FromClient(client.CoreV1().Pods(namespace))
//	}))
//
// src is called for a namespace when it comes into the set; its source runs until the
// namespace leaves the set, and may have its own selectors. So there is one list and one watch
// for each namespace, and one store, of which every read sees one state.
//
//  1. The informer is synced when all namespaces that are in the set then have
//     been listed. Until then, those that were listed wait for the others.
//  2. A namespace that is added later is listed and watched; nothing else is
//     listed again. Its objects are additions with the reason index.Relisted.
//  3. When a namespace is removed, its objects are deleted with the reason
//     index.OutOfScope.
//  4. A later list of one namespace is compared with the objects of that one.
//  5. A namespace that cannot be listed or watched is retried by its source, and reported as a
//     *NamespaceError; several are joined. It keeps the informer from syncing, but not a
//     synced one from continuing with the others; and neither, nor its version, if the
//     source reports an error that wraps ErrPassedOver. An error that a namespace's source
//     ends with ends the informer.
//  6. Objects that are in another namespace than their source is for are left out
//     as a RejectedError.
//  7. A namespace that has left the set keeps neither the informer from syncing nor its
//     version from continuing.
//
// The source is Scoped: reads of an informer alone do not show whether a namespace is in the
// set, and was listed.
//
// About resource versions: each watch comes to a version by itself, and one of a namespace in
// which nothing happens only by bookmarks, which the server sends about once a minute.
// typed.Informer.ResourceVersion is the lowest of them, so it is never ahead of what reads
// return, in any namespace, and WaitForResourceVersion takes as long as the slowest watch;
// typed.Informer.WaitForKeyVersion waits for that of one namespace. A namespace that was added
// keeps the version from continuing until it is listed, and takes it back if its list is
// older; one that cannot be listed should therefore be removed. Versions that were reached
// before it was added say nothing about it.
//
// The common origin of the sources is known only when the first of them is made, after the
// informer got its name. If there are several informers of a kind, name them with
// typed.WithName.
//
// Functions of Map, FilterMap and typed.WithTransform may be called for several
// namespaces at the same time.
func FromNamespaces[T index.Object](namespaces *Namespaces, src func(namespace string) Source[T]) Source[T] {
	return &namespacesSource[T]{namespaces: namespaces, source: src}
}

// namespacesSource is the Source that FromNamespaces returns.
type namespacesSource[T index.Object] struct {
	namespaces *Namespaces
	source     func(namespace string) Source[T]
	origin     atomic.Pointer[Origin] // what the sources have in common; nil: none was made yet
	reported   reportedVersions
	stays      stays
	opened     Opened[T]
}

// reportedVersions are the versions that were reported, by namespace.
type reportedVersions struct {
	mu sync.Mutex
	at map[string]string // guarded by mu
}

func (t *reportedVersions) set(namespace, version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version == "" {
		delete(t.at, namespace)
		return
	}
	if t.at == nil {
		t.at = map[string]string{}
	}
	t.at[namespace] = version
}

// At implements Versions.
func (s *namespacesSource[T]) At(key index.Key) string {
	s.reported.mu.Lock()
	defer s.reported.mu.Unlock()
	return s.reported.at[key.Namespace]
}

// Origin implements Located.
func (s *namespacesSource[T]) Origin() Origin {
	if from := s.origin.Load(); from != nil {
		return *from
	}
	return Origin{}
}

// Omits implements Partial.
func (s *namespacesSource[T]) Omits(field string) bool { return s.opened.Omits(field) }

// DerivedFrom implements Derived.
func (s *namespacesSource[T]) DerivedFrom() []Derived { return []Derived{&s.opened} }

// run runs the source of a namespace until it ends.
func (s *namespacesSource[T]) run(ctx context.Context, namespace string, sink Sink[T]) error {
	src := s.source(namespace)
	if src == nil {
		return errors.New("source is nil")
	}
	from := OriginOf(src)
	from.Namespace = ""
	s.origin.Store(&from)
	leave, err := s.opened.Add(src, func() []string { return sink.Decoding().Needs })
	if err != nil {
		return err
	}
	defer leave()
	return src.Run(ctx, sink)
}

// Run implements Source.
func (s *namespacesSource[T]) Run(ctx context.Context, sink Sink[T]) error {
	switch {
	case s.namespaces == nil:
		return errNoSet
	case s.source == nil:
		return errors.New("source function is nil")
	case s.namespaces.err != nil:
		return s.namespaces.err
	}
	changed, leave := s.namespaces.followers.Add()
	defer leave()
	group, ctx := errgroup.WithContext(ctx)
	all := newNamespaceGroup(sink, &s.reported, &s.stays)
	for {
		for _, added := range all.set(ctx, s.namespaces.All()) {
			group.Go(func() error { return added.run(s) })
		}
		select {
		case <-changed:
		case <-ctx.Done():
			all.end()
			return group.Wait()
		}
	}
}

// run runs the source of a namespace until it ends or the namespace is removed.
func (s *namespaceSink[T]) run(of *namespacesSource[T]) error {
	defer s.cancel()
	err := goroutine.Contain(s.ctx, "the source", func() error { return of.run(s.ctx, s.namespace, s) })
	switch {
	case s.ctx.Err() != nil:
		return nil // it was stopped
	case err != nil:
		return &NamespaceError{Namespace: s.namespace, Err: err}
	}
	s.finish()
	return nil
}

// set makes names the namespaces, and returns the sinks of those that are new,
// for the caller to run.
func (all *namespaceGroup[T]) set(ctx context.Context, names []string) (added []*namespaceSink[T]) {
	defer all.report()
	all.mu.Lock()
	defer all.mu.Unlock()
	for name, s := range all.byName {
		if _, stays := slices.BinarySearch(names, name); !stays {
			all.remove(s)
		}
	}
	for _, name := range names {
		if all.byName[name] != nil {
			continue
		}
		s := &namespaceSink[T]{namespaceGroup: all, namespace: name, stay: all.stays.enter(name)}
		s.ctx, s.cancel = context.WithCancel(ctx)
		all.byName[name] = s
		added = append(added, s)
	}
	all.syncIfListed()
	return added
}
