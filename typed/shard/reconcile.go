package shard

import (
	"context"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// Reconcile returns a function for the workers of a queue, which calls reconcile for keys of
// this source's objects as long as this member owns them:
//
//   - A key of another member is dropped. That member gets an addition when it takes the
//     range.
//   - A key whose range this member has, but may not work on at the moment, as its Lease was
//     not renewed in time, or as some source of the group has not listed the range yet, comes
//     again after 2/15 of the lease duration, by queue.RequeueAfter; one whose range this
//     member is about to have, after a quarter of that.
//   - The context ends when the member may not work on the key any more, with the cause
//     ErrLost or ErrMoved. The range is not given to others before the function has returned,
//     unless the Lease could not be renewed.
//
// Where only objects determine their range, as in a group by UID, a key without an object is one
// of an object that was deleted here, and is remembered until reconcile has returned nil for
// it; otherwise it is taken for another member's. The keys that other sources enqueue, such
// as those of owners, are those of this source.
//
// If reconcile is nil, so is what Reconcile returns.
func (s *Source[T]) Reconcile(reconcile func(ctx context.Context, key index.Key) error) func(ctx context.Context, key index.Key) error {
	if reconcile == nil {
		return nil
	}
	s.mu.Lock()
	s.worked = true
	s.mu.Unlock()
	return func(ctx context.Context, key index.Key) error {
		if s.err != nil {
			return queue.TerminalError(s.err)
		}
		r, ok := s.rangeOfKey(key)
		if !ok {
			return nil
		}
		calling, done, v := s.group.begin(ctx, r)
		switch v {
		case later:
			return queue.RequeueAfter(s.group.retryPeriod)
		case soon:
			return queue.RequeueAfter(s.group.retryPeriod / 4)
		case never:
			s.forget(key)
			return nil
		}
		defer done()
		err := reconcile(calling, key)
		if err == nil {
			s.forget(key)
		}
		return err
	}
}

// forget forgets the range of a deleted object.
func (s *Source[T]) forget(key index.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.departed.remove(key)
}
