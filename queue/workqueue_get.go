package queue

import "context"

// Get hands out the key whose turn it is, and waits for one if there is none.
// The caller has to call Done with it. When the queue was shut down and nothing
// is left to be handed out, it returns true.
func (q *WorkQueue[K]) Get() (key K, shutDown bool) {
	key, err := q.GetContext(context.Background())
	return key, err != nil
}

// GetContext does as Get until ctx ends. From then on it hands out nothing and
// returns the cause, even if keys wait. It returns ErrShutDown when the queue was
// shut down and nothing is left.
func (q *WorkQueue[K]) GetContext(ctx context.Context) (K, error) {
	key, _, err := q.GetWithPriority(ctx)
	return key, err
}

// GetWithPriority does as GetContext, and also returns the priority with which
// the key was waiting, so that it can be added with that again.
func (q *WorkQueue[K]) GetWithPriority(ctx context.Context) (key K, priority int, err error) {
	q.lock()
	if err := q.await(ctx); err != nil {
		return key, 0, err
	}
	row := q.handOut()
	key, priority = row.key, row.value.priority
	w := q.parked.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return key, priority, nil
}

// GetBatch hands out as many keys as there are, up to the length of keys, and
// puts them there. It returns their number. If there is none, it waits for one.
// Done has to be called with each of them. The errors are those of GetContext.
// If keys is empty it returns 0 at once.
func (q *WorkQueue[K]) GetBatch(ctx context.Context, keys []K) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	q.lock()
	if err := q.await(ctx); err != nil {
		return 0, err
	}
	n := min(len(keys), q.schedule.len)
	for i := range n {
		keys[i] = q.handOut().key
	}
	w := q.parked.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return n, nil
}

// await waits until there is a key to hand out. It returns an error if ctx has
// ended, or the queue was shut down and nothing is left. The caller holds mu; if
// there is an error, it is given up.
func (q *WorkQueue[K]) await(ctx context.Context) error {
	for {
		err := context.Cause(ctx)
		switch {
		case err != nil:
		case q.schedule.len > 0:
			return nil
		case q.shutDown:
			err = ErrShutDown
		default:
			q.parked.wait(ctx, &q.mu)
			continue
		}
		w := q.parked.next(q.schedule.len) // this worker may have been woken for it
		q.mu.Unlock()
		wake(w)
		return err
	}
}

// handOut hands out the key whose turn it is. The caller holds mu.
func (q *WorkQueue[K]) handOut() *row[K, entry] {
	n := q.schedule.pop()
	row := &q.keys.rows[n]
	row.value.state |= processing
	q.inProcess++
	q.metrics.handedOut(n)
	return row
}
