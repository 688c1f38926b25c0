package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
)

// Observer is what will see a write: a *typed.Informer, or a *typed.SharedInformer,
// whatever the type of its objects.
type Observer interface {
	// ExpectVersion returns what reports when reads reflect a version.
	ExpectVersion(version string) (typed.Expected, error)
	// ExpectDeleted returns what reports when reads reflect a deletion.
	ExpectDeleted(obj typed.Identified) (typed.Expected, error)
}

// KeyObserver is an Observer that distinguishes the versions of objects, if its source has
// several watches: a *typed.Informer, or a *typed.SharedInformer.
type KeyObserver interface {
	// ExpectKeyVersion returns what reports when reads of one object reflect a version.
	ExpectKeyVersion(key index.Key, version string) (typed.Expected, error)
}

// Expectations lets a controller read its own writes: a key whose processing wrote something
// is not processed again before the informers have seen that write. Otherwise its next
// processing would read the state before the write, and write again.
//
// The function that processes keys reports each write that has succeeded, and is wrapped:
//
//	q.Run(ctx, workers, expectations.Wrap(func(ctx context.Context, key index.Key) error {
//		…
//		created, err := client.CoreV1().Pods(key.Namespace).Create(ctx, pod, metav1.CreateOptions{})
//		if err != nil {
//			return err
//		}
//		return expectations.Expect(key, pods, created.ResourceVersion)
//	}))
//
// Guarantees:
//
//  1. Read your writes. The wrapped function is called for a key only if every informer has
//     met its expectations for that key, the timeout has passed, or the informer has stopped.
//  2. One key. Other keys continue, and no worker waits: a key that is handed out too early is
//     delayed, and added again later.
//  3. Nothing is lost. A delayed key is added again, with priority 0, as soon as its
//     expectations are met. So is a key whose write was met by a list, without an event: the
//     object may have been deleted before the list, and no event reports that. A write that
//     changes nothing returns a version that the function has seen, and expects nothing.
//  4. A bound. When WithExpectationTimeout has passed since the last write that was not seen,
//     the key continues, which is logged and counted (ExpectationStats.Expired).
//  5. Nothing is kept for a key that expects nothing (any more): its memory is freed when the
//     informers have seen everything, whether it is handed out or not. For each informer a key
//     expects at most one version, the latest, and one deletion for each object.
//
// A write that has failed expects nothing, as it has changed nothing. If it is
// unknown whether it has, such as after a time-out, nothing can be expected.
// When an informer goes back to an earlier version after it has met what was
// expected, as it does when the server's data are restored from a backup, that
// is not noticed.
//
// Nothing is polled: an informer reports each version that it reaches, with every event and
// bookmark. An informer with a namespace or selector must select the written object; otherwise
// it reaches the version only with the next bookmark, after about a minute.
//
// All methods are safe for concurrent use.
type Expectations[K comparable] struct {
	queue   Adder[K]
	timeout time.Duration

	mu        sync.Mutex            // taken before locks of informers, never while one is held
	keys      map[K]*expectation[K] // guarded by mu; those that expect something
	most      int                   // guarded by mu; that keys has held, for container.ShrinkMap
	waiting   int                   // guarded by mu; of these, those that were put off
	deadlines deadlines[K]          // guarded by mu
	putOff    uint64                // guarded by mu
	expired   uint64                // guarded by mu

	lists    *typed.ListCount // of the informers of which something was expected
	counting bool             // guarded by mu; something was expected
	calls    map[K]mark       // guarded by mu; for keys that are being processed
}

// ExpectationOption sets up Expectations.
type ExpectationOption func(*expectationConfig) error

type expectationConfig struct{ timeout time.Duration }

// defaultExpectationTimeout is that of the expectations of
// kube-controller-manager (ExpectationsTimeout in pkg/controller).
const defaultExpectationTimeout = 5 * time.Minute

// WithExpectationTimeout sets how long a key waits after its last write until it
// is processed even if informers have not seen the write, 5 minutes without it.
func WithExpectationTimeout(d time.Duration) ExpectationOption {
	return func(c *expectationConfig) error {
		if d <= 0 {
			return fmt.Errorf("the timeout %v is not positive", d)
		}
		c.timeout = d
		return nil
	}
}

// NewExpectations returns Expectations of the keys of q, to which keys that were
// put off are added. It returns an error if the queue is nil or an option cannot
// be used.
func NewExpectations[K comparable](q Adder[K], opts ...ExpectationOption) (*Expectations[K], error) {
	c := expectationConfig{timeout: defaultExpectationTimeout}
	if err := errors.Join(needQueue(q), argument.ApplyOptions(&c, opts)); err != nil {
		return nil, fmt.Errorf("expectations: %w", err)
	}
	return &Expectations[K]{queue: q, timeout: c.timeout, keys: map[K]*expectation[K]{}, lists: &typed.ListCount{}, calls: map[K]mark{}}, nil
}

// Expect reports that something was written for key, and that by will see it at
// resourceVersion, as the server has returned it. It is called after a write that has
// succeeded, before the function that processes the key returns.
//
// The version has to be one of the resource that the informer watches; versions
// of different resources cannot be compared. It returns an error if the version
// is not a number, or the informer is nil or cannot be used.
func (e *Expectations[K]) Expect(key K, by Observer, resourceVersion string) error {
	if argument.IsNil(by) {
		return fmt.Errorf("version %s is not expected for key %v: %w", resourceVersion, key, errNilObserver)
	}
	expected, err := by.ExpectVersion(resourceVersion)
	if err != nil {
		return err
	}
	e.add(key, expected)
	return nil
}

// ExpectOf reports that the object of was written for key, and that by will see it at
// resourceVersion. With sources that have several watches, as those of package shard, sets of
// namespaces and fleets have, it waits for that of the object, where Expect waits for the
// slowest, which may take a minute. All else is as with Expect.
func (e *Expectations[K]) ExpectOf(key K, by KeyObserver, of index.Key, resourceVersion string) error {
	if argument.IsNil(by) {
		return fmt.Errorf("version %s of %q is not expected for key %v: %w", resourceVersion, of, key, errNilObserver)
	}
	expected, err := by.ExpectKeyVersion(of, resourceVersion)
	if err != nil {
		return err
	}
	e.add(key, expected)
	return nil
}

// ExpectDeleted reports that deleted was deleted for key, and that by will see that: the
// object is gone, or there is one of another UID, or it is marked as being deleted, which is
// all that a deletion does to an object with finalizers or a grace period. It is called after
// a deletion that has succeeded, or has found nothing to delete, before the function that
// processes the key returns.
//
// The object is given in any state that it had before, as an informer or the
// server has returned it; its UID and resource version count. It returns an
// error if that has no UID or its version is not a number, if the informer's
// objects have no UIDs, or if the informer or the object is nil or cannot be
// used.
func (e *Expectations[K]) ExpectDeleted(key K, by Observer, deleted typed.Identified) error {
	if argument.IsNil(by) {
		return fmt.Errorf("a deletion is not expected for key %v: %w", key, errNilObserver)
	}
	if deleted == nil {
		return fmt.Errorf("a deletion is not expected for key %v: object is nil", key)
	}
	expected, err := by.ExpectDeleted(deleted)
	if err != nil {
		return err
	}
	e.add(key, expected)
	return nil
}

var errNilObserver = errors.New("informer is nil")

// Wrap returns a function for queue.WorkQueue.Run, or whatever else processes
// the queue's keys: it calls process, unless the key expects something that is
// not met yet. Then it returns nil at once, and the key is added again when it is
// time. If process is nil, so is what it returns.
//
// Since it returns nil then, the rate limiter of a WorkQueue forgets what failed
// before: a key that writes something and fails, again and again, is retried no
// later than informers see what it writes.
func (e *Expectations[K]) Wrap(process func(ctx context.Context, key K) error) func(ctx context.Context, key K) error {
	if process == nil {
		return nil
	}
	return func(ctx context.Context, key K) error {
		putOff, noted := e.holdBack(ctx, key)
		if putOff {
			return nil
		}
		if noted {
			defer e.end(key)
		}
		return process(ctx, key)
	}
}

// ExpectationStats reports what Expectations wait for.
type ExpectationStats struct {
	// Keys is the number of keys that expect something, and Waiting that of those
	// among them that were put off, and will be added when it is met.
	Keys, Waiting int
	// PutOff counts how often a key was put off, and Expired the keys whose time
	// was over before all was met, since the Expectations were made.
	PutOff, Expired uint64
}

// Stats returns what is expected now, all of it at the same moment.
func (e *Expectations[K]) Stats() ExpectationStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return ExpectationStats{Keys: len(e.keys), Waiting: e.waiting, PutOff: e.putOff, Expired: e.expired}
}
