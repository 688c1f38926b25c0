package typed

import (
	"context"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// WaitForKeyVersion waits until reads of one object reflect resourceVersion, as a write of that
// object has returned it. If the source has several watches, as those of namespaces, fleets
// and package shard have, it waits for the one that has the object, where
// WaitForResourceVersion waits for the slowest; otherwise it is the same.
//
// It returns errors as WaitForResourceVersion does. If the source ceases to have the object
// meanwhile, as when another member of a group takes its range, it may wait for the slowest.
func (a *access[T]) WaitForKeyVersion(ctx context.Context, key index.Key, resourceVersion string) error {
	i, ctx, stop := a.within(ctx)
	defer stop()
	e, err := i.expectKeyVersion(key, resourceVersion)
	if err != nil {
		return err
	}
	i.await(ctx, e)
	if !e.isReflected() {
		return i.withFailure(fmt.Errorf("waited for %v: %w", e, i.endOf(ctx)))
	}
	return nil
}

// versionsMoved makes the goroutine of the loop check the waiters of keys. The source calls it with
// its locks held.
func (i *Informer[T]) versionsMoved() {
	if i.byKey.waiting.Load() > 0 {
		i.deltas.Add(queue.Delta[T]{Type: queue.Bookmark, ResourceVersion: ""})
	}
}

// await waits until something is met, or ctx or the informer ends.
func (i *Informer[T]) await(ctx context.Context, e Expected) {
	changed := make(chan struct{}, 1)
	e.Watch(func() { monitor.Wake(changed) })
	defer e.Unwatch()
	for !e.Met() && ctx.Err() == nil {
		select {
		case <-changed:
		case <-i.stopped:
		case <-ctx.Done():
		}
	}
}

// ExpectKeyVersion returns what reports when reads of one object reflect a resource version:
// WaitForKeyVersion without a goroutine that waits. It returns errors as ExpectVersion does.
func (a *access[T]) ExpectKeyVersion(key index.Key, version string) (Expected, error) {
	e, err := a.followed().expectKeyVersion(key, version)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (i *Informer[T]) expectKeyVersion(key index.Key, version string) (*versionExpected[T], error) {
	if err := i.canReachAt(key, version); err != nil {
		return nil, err
	}
	e := &versionExpected[T]{informer: i, lists: i.lists.count.Load(), waiter: versionWaiter{version: version}}
	e.watchKey(key)
	return e, nil
}

// canReachAt is canReach for one key.
func (i *Informer[T]) canReachAt(key index.Key, version string) error {
	if i.check() != nil || !atLeast(version, version) || !atLeast(i.sourceAt(key), "1") {
		return i.canReach(version)
	}
	return nil
}

// sourceAt returns the version of a key as the source has it, "" if it is not reported.
func (i *Informer[T]) sourceAt(key index.Key) string {
	if i.source == nil {
		return ""
	}
	return source.VersionAt(i.source, key)
}

// watchKey limits e to one key, if the source distinguishes keys.
func (e *versionExpected[T]) watchKey(key index.Key) {
	if _, ok := e.informer.source.(source.Versions); ok {
		e.key = &key
	}
}

// isKeyReflected reports whether reads of the key reflect the version: the source has reported
// the version, and the informer has consumed all that was queued then.
func (e *versionExpected[T]) isKeyReflected() bool {
	batch := e.batch.Load()
	if batch == 0 {
		if !atLeast(e.informer.sourceAt(*e.key), e.waiter.version) {
			return false
		}
		batch = e.informer.deltas.Batch()
		e.batch.Store(batch)
	}
	return e.informer.byKey.consumed.Load() >= batch
}
