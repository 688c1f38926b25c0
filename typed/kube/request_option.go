package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/internal/timing"
)

// requestConfig is what options say about requests and the waits between them.
// Sources with the same are alike.
type requestConfig struct {
	pageSize     int64
	latest       bool          // lists are of the server's latest state
	listTimeout  time.Duration // 0: none
	watchTimeout time.Duration // 0: the default
	firstWait    time.Duration // 0: firstRefused
	longestWait  time.Duration // 0: longestWait
}

// WithConsistentLists makes every list, the first one included, one of the latest
// state that the server has when it is asked. Otherwise the first list may be of an
// older state, that of the server's cache, and later ones of one as old as the last
// that the source has seen, as in client-go: then an informer that starts again, on
// another server, can go back in time. Consistent lists cost the server more.
func WithConsistentLists() SourceOption {
	return func(c *sourceConfig) error {
		c.requests.latest = true
		return nil
	}
}

// WithPageSize makes lists come in pages of up to so many objects, and be consistent,
// see WithConsistentLists: what servers answer from their cache has no pages. Without
// it, a list is one answer, or where servers have no cache in pages of 500, as in
// client-go. Lists that are streamed have no pages; see WithoutWatchList.
func WithPageSize(objects int64) SourceOption {
	return func(c *sourceConfig) error {
		if objects < 1 {
			return fmt.Errorf("WithPageSize: pages of %d objects; give 1 or more, or leave the option out for lists without pages", objects)
		}
		c.requests.pageSize, c.requests.latest = objects, true
		return nil
	}
}

// WithListTimeout ends a request for a list, or for a page of it, that takes longer. The
// request has then failed, and is retried after a backoff. Without it, only the client's own
// timeout applies. Lists that are streamed have WithWatchListTimeout.
func WithListTimeout(timeout time.Duration) SourceOption {
	return func(c *sourceConfig) error {
		if timeout <= 0 {
			return fmt.Errorf("WithListTimeout: the time is %s; give one that is longer than a list takes", timeout)
		}
		c.requests.listTimeout = timeout
		return nil
	}
}

// WithWatchTimeout asks the server to end each watch after a random time between atLeast and
// twice that, so that clients spread over servers again; the next watch continues where it
// ended. By default that is 5 minutes. It counts in whole seconds, and is one second or more.
func WithWatchTimeout(atLeast time.Duration) SourceOption {
	return func(c *sourceConfig) error {
		if atLeast < time.Second {
			return fmt.Errorf("WithWatchTimeout: the time is %s; give one second or more", atLeast)
		}
		c.requests.watchTimeout = atLeast
		return nil
	}
}

// WithBackoff sets the limits of the waits of FromListerWatcher: first is that of the
// first wait after an answer that is an error, 0.8 s by default, and longest that of
// all waits, 30 s by default. While the server cannot be reached, the first limit is an
// eighth of first.
func WithBackoff(first, longest time.Duration) SourceOption {
	return func(c *sourceConfig) error {
		if first < 8 || longest < first {
			return fmt.Errorf("WithBackoff: the first limit is %s and the longest %s; the first has to be positive, and no longer than the longest", first, longest)
		}
		c.requests.firstWait, c.requests.longestWait = first, longest
		return nil
	}
}

// longest returns the limit of all waits.
func (c requestConfig) longest() time.Duration { return cmp.Or(c.longestWait, longestWait) }

// refused returns the waits after answers that are errors.
func (c requestConfig) refused() backoff {
	return backoff{first: cmp.Or(c.firstWait, firstRefused), factor: growthRefused, last: c.longest()}
}

// unreachable returns the waits while the server cannot be reached.
func (c requestConfig) unreachable() backoff {
	return backoff{first: c.refused().first / 8, factor: growthUnreachable, last: c.longest()}
}

// list changes the options of a list, or of a watch that begins with one.
func (c requestConfig) list(opts *metav1.ListOptions) {
	if c.latest && opts.Continue == "" {
		opts.ResourceVersion = ""
		if opts.SendInitialEvents == nil {
			opts.ResourceVersionMatch = ""
		}
	}
}

// defaultWatchTimeout is how long a watch lasts at least: that of client-go's Reflector.
const defaultWatchTimeout = 5 * time.Minute

// watch changes the options of a watch.
func (c requestConfig) watch(ctx context.Context, opts *metav1.ListOptions) {
	if ptr.Deref(opts.SendInitialEvents, false) {
		c.list(opts)
	}
	least := int64(cmp.Or(c.watchTimeout, defaultWatchTimeout) / time.Second)
	opts.TimeoutSeconds = ptr.To(least + timing.RandomFrom(ctx).Int64N(least+1))
}

// listed makes a request for a list, for as long as it may take.
func listed[R any](ctx context.Context, c requestConfig, request func(context.Context) (R, error)) (R, error) {
	if c.listTimeout == 0 {
		return request(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, c.listTimeout)
	defer cancel()
	result, err := request(limited)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the list takes longer than %s, see WithListTimeout: %w", c.listTimeout, err)
	}
	return result, err
}
