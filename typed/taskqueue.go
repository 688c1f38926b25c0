package typed

import (
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
)

// task is something to do between two events of a handler: a resync, or a call.
type task[T index.Object] struct {
	at       uint64             // the position at which it is due
	snapshot *index.Snapshot[T] // of a resync; nil: none
	periodic bool               // the resync is one of those at a period
	call     func()             // if it is no resync
}

// taskQueue contains the tasks of a handler, in order. Any goroutine may add one; the handler's
// goroutine runs them. It costs one look at a flag if there are no tasks.
type taskQueue[T index.Object] struct {
	some  atomic.Bool // there may be tasks
	added chan struct{}

	mu   sync.Mutex
	list []task[T] // guarded by mu
}

func newTaskQueue[T index.Object]() taskQueue[T] { return taskQueue[T]{added: make(chan struct{}, 1)} }

// add adds a task. A resync that follows another one without an event in between is the
// same: however often one is asked for, no more wait than events do.
func (q *taskQueue[T]) add(t task[T]) {
	q.mu.Lock()
	if n := len(q.list); n > 0 && t.snapshot != nil && q.list[n-1].snapshot != nil && q.list[n-1].at == t.at {
		q.list[n-1].periodic = q.list[n-1].periodic || t.periodic
	} else {
		q.list = append(q.list, t)
	}
	q.some.Store(true)
	q.mu.Unlock()
	monitor.Wake(q.added)
}

// next takes out the first task, if it is due at a position.
func (q *taskQueue[T]) next(position uint64) (task[T], bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.some.Store(false)
		return task[T]{}, false
	}
	first := q.list[0]
	if position < first.at {
		return task[T]{}, false
	}
	q.list[0] = task[T]{}
	q.list = q.list[1:]
	return first, true
}

// clear forgets all tasks.
func (q *taskQueue[T]) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = nil
}
