package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed"
)

// WaitForSync waits until reads of the informer have the objects of the given clusters, or
// of all that are in the set now. It returns an error for each cluster of which that is
// not so when ctx ends, or the informer does, joined: it says what the cluster fails with,
// and wraps a *[ClusterError] then. One that is not in the set, or leaves it, is an error at
// once, which wraps [ErrNotMember]. It may be called before the informer runs.
func (s *Source[T]) WaitForSync(ctx context.Context, clusters ...string) error {
	if s.err != nil {
		return s.err
	}
	if len(clusters) == 0 {
		for _, c := range s.clusters.All() {
			clusters = append(clusters, c.Name)
		}
	}
	var errs []error
	for _, cluster := range clusters {
		if err := s.wait(ctx, cluster, ""); err != nil {
			errs = append(errs, fmt.Errorf("cluster %s is not synced: %w", cluster, err))
		}
	}
	return errors.Join(errs...)
}

// WaitForResourceVersion waits until reads of the informer reflect a resource version of a
// cluster, as a write to that cluster has returned it. With a selector or a single
// namespace, the informer learns of versions beyond its own objects only from bookmarks,
// which servers send about once a minute.
//
// It returns an error at once if the version is not a number, and otherwise as WaitForSync
// does.
func (s *Source[T]) WaitForResourceVersion(ctx context.Context, cluster, resourceVersion string) error {
	if s.err != nil {
		return s.err
	}
	if !atLeast(resourceVersion, resourceVersion) {
		return fmt.Errorf("cluster %s: resource version %q is not a positive number", cluster, resourceVersion)
	}
	if err := s.wait(ctx, cluster, resourceVersion); err != nil {
		status, _ := s.StatusOf(cluster)
		return fmt.Errorf("cluster %s: waited for resource version %s, is at %q: %w", cluster, resourceVersion, status.ResourceVersion, err)
	}
	return nil
}

// wait waits for a version of a cluster, "" for any list.
func (s *Source[T]) wait(ctx context.Context, cluster, version string) error {
	for {
		e, ok := s.clusters.entry(cluster)
		if !ok {
			return ErrNotMember
		}
		g, started := s.latest()
		if g == nil {
			select {
			case <-started:
				continue
			case <-ctx.Done():
				return fmt.Errorf("%w; %w", context.Cause(ctx), typed.ErrNotStarted)
			}
		}
		m, moved := g.find(cluster, e.changed)
		if m == nil {
			select {
			case <-moved:
				continue
			case <-g.ctx.Done():
				return typed.ErrStopped
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if over, err := m.wait(ctx, version); over {
			return err
		}
	}
}

// find returns the member of a name in its state since a change, nil if there is none yet,
// and a channel that is closed when members come, go or change.
func (g *group[T]) find(name string, since uint64) (*member[T], <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.moved == nil {
		g.moved = make(chan struct{})
	}
	if m := g.members[name]; m != nil && m.changed >= since {
		return m, g.moved
	}
	return nil, g.moved
}

// wait waits for a version of the cluster, and reports whether that is over: otherwise the
// cluster has left.
func (m *member[T]) wait(ctx context.Context, version string) (over bool, err error) {
	reached := make(chan struct{})
	w := &waiter{version: version, reached: sync.OnceFunc(func() { close(reached) })}
	m.await(w)
	defer m.health.forget(w)
	select {
	case <-reached: // or it is over
	case <-m.left:
	case <-m.ctx.Done():
	case <-ctx.Done():
		return true, m.withFailure(context.Cause(ctx))
	}
	switch {
	case monitor.IsClosed(m.left):
		return false, nil
	case m.ctx.Err() != nil:
		return true, m.withFailure(typed.ErrStopped)
	}
	return true, nil
}

// withFailure returns err, and what the cluster fails with, if it does.
func (m *member[T]) withFailure(err error) error {
	var s ClusterStatus
	m.health.fill(&s)
	switch {
	case s.Err == nil:
		return err
	case s.Failures == 0:
		return fmt.Errorf("%w; %w", err, s.Err)
	}
	return fmt.Errorf("%w; it fails since %s (%d×), lately with: %w", err, s.Since.Format(time.RFC3339), s.Failures, s.Err)
}
