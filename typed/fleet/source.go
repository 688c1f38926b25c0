package fleet

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed/source"
)

// Source is a source of the objects of a set of clusters, for one informer that has them
// all: one store, of which every read sees one state, with indexes, handlers and listers
// across clusters.
//
//	pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
//		return kube.FromREST[*corev1.Pod](c.Config)
//	})
//	informer := typed.NewInformer(pods)
//
// The function is called for a cluster when it comes into the set; what it returns is run
// until the cluster leaves. So there is one list and one watch for each cluster.
//
//  1. No cluster that is away is waited for. The informer is synced when every
//     cluster that is in the set then has been listed, or has failed, or has said nothing
//     for the time of [WithPatience]; but not before one has been listed, if there are
//     any. [WithAllListed] has it wait for all. WaitForSync of the Source waits for
//     clusters by their names.
//  2. A cluster that is listed later is an addition to the others: of its objects, with
//     the reason index.Acquired, as one step for readers.
//  3. A cluster that leaves the set takes its objects with it: they are deleted with the
//     reason index.Released, as one step, which says nothing of whether they exist.
//  4. A cluster that fails is tried again, as its source does, and holds up no other. Its
//     objects stay as they were last known, or go by [WithExpiry]. Status says which
//     clusters fail, since when, and how old their objects are.
//  5. A later list of a cluster is compared with the objects of that one.
//  6. When a source ends with an error, is nil, or panics, its cluster fails for good:
//     nothing more is heard of it until it is removed, or changed by Clusters.Put.
//  7. What fails is reported to the informer as a *[ClusterError]. If several clusters
//     fail, the error unwraps to all of theirs; its text says how many there are, and has
//     three names and the first error. The informer's Status has no error when all work.
//     The log has, besides the informer's lines, one that names the clusters that fail, at
//     most once a minute.
//  8. An object that is rejected stays as it was, see source.RejectedError, which has the
//     key of the object with its cluster.
//
// For each object, the Source remembers the name, to know what a list does not have any
// more, and which objects leave with a cluster: about 40 bytes.
//
// # Resource versions
//
// Versions of different clusters cannot be compared. That of the informer has those of all
// clusters, see [ParseVersion], so WaitForResourceVersion of the informer returns an
// error; that of the Source waits for a version of one cluster, and WaitForKeyVersion of the
// informer for that of the key's cluster.
//
// One Source may be the source of several informers, one after another: of a factory's,
// for example, for which it is the key as well. Its methods are about the latest.
// Its methods are safe for concurrent use.
type Source[T Object] struct {
	clusters *Clusters
	open     func(Cluster) source.Source[T]
	config   config
	err      error // what was wrong with the arguments of NewSource

	origin  atomic.Pointer[source.Origin] // what the sources have in common; nil: none was made yet
	opened  source.Opened[T]
	mu      sync.Mutex
	running *group[T]     // guarded by mu; the latest
	started chan struct{} // guarded by mu; closed when there is another one, nil while no caller waits
}

// NewSource returns a source of the objects of a set of clusters, each from what open
// returns for it. Open is called by a goroutine of the cluster's own. If the arguments
// cannot be used, the informer's Run returns an error, and so do methods of the Source.
func NewSource[T Object](clusters *Clusters, open func(Cluster) source.Source[T], opts ...Option) *Source[T] {
	s := &Source[T]{clusters: clusters, open: open, config: config{patience: defaultPatience}}
	errs := []error{argument.ApplyOptions(&s.config, opts)}
	if clusters == nil {
		errs = append(errs, errors.New("set of clusters is nil"))
	}
	if open == nil {
		errs = append(errs, errors.New("source function is nil"))
	}
	if err := errors.Join(errs...); err != nil {
		s.err = fmt.Errorf("fleet of %v: %w", reflect.TypeFor[T](), err)
	}
	return s
}

// Origin implements source.Located.
func (s *Source[T]) Origin() source.Origin {
	if from := s.origin.Load(); from != nil {
		return *from
	}
	return source.Origin{}
}

// Omits implements source.Partial.
func (s *Source[T]) Omits(field string) bool { return s.opened.Omits(field) }

// DerivedFrom implements source.Derived.
func (s *Source[T]) DerivedFrom() []source.Derived { return []source.Derived{&s.opened} }

// String returns what the Source is of, for the names of a factory's informers.
func (s *Source[T]) String() string { return "of clusters" }

// Run implements source.Source.
func (s *Source[T]) Run(ctx context.Context, sink source.Sink[InCluster[T]]) error {
	if s.err != nil {
		return s.err
	}
	changed, leave := s.clusters.followers.Add()
	defer leave()
	g := newGroup(ctx, s, sink)
	s.begin(g)
	defer g.end()
	for {
		g.set(s.clusters.now())
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// begin notes the latest group.
func (s *Source[T]) begin(g *group[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = g
	if s.started != nil {
		close(s.started)
		s.started = nil
	}
}

// latest returns the latest group, nil if there was none, and a channel that is closed when
// there is another one.
func (s *Source[T]) latest() (*group[T], <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started == nil {
		s.started = make(chan struct{})
	}
	return s.running, s.started
}

// runFor runs the source of a cluster until it ends.
func (s *Source[T]) runFor(ctx context.Context, c Cluster, sink *session[T]) error {
	src := s.open(c)
	if src == nil {
		return errors.New("source is nil")
	}
	from := source.OriginOf(src)
	from.Host = ""
	s.origin.Store(&from)
	leave, err := s.opened.Add(src, func() []string { return sink.Decoding().Needs })
	if err != nil {
		return err
	}
	defer leave()
	sink.shows(src)
	return src.Run(ctx, sink)
}
