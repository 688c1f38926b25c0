package queue

import "sync/atomic"

// results count calls by their results.
type results struct{ succeeded, requeued, failed, terminal atomic.Uint64 }

func (r *results) now() Results {
	return Results{
		Succeeded: r.succeeded.Load(), Requeued: r.requeued.Load(),
		Failed: r.failed.Load(), Terminal: r.terminal.Load(),
	}
}
