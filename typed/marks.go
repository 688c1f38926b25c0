package typed

import (
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// mark is something that is to happen between two events of a handler: a resync,
// or a call.
type mark[T index.Object] struct {
	at       uint64             // the position at which it is due
	snapshot *index.Snapshot[T] // of a resync; nil: none
	periodic bool               // the resync is one of those at a period
	call     func()             // if it is no resync
}

// marks are the marks of a handler, in order. Any goroutine may add one; the
// handler's takes them. What it costs where there is none is one look at a flag.
type marks[T index.Object] struct {
	some  atomic.Bool // there may be marks
	added chan struct{}

	mu    sync.Mutex
	queue []mark[T] // guarded by mu
}

func newMarks[T index.Object]() marks[T] { return marks[T]{added: make(chan struct{}, 1)} }

func (m *marks[T]) add(one mark[T]) {
	m.mu.Lock()
	m.queue = append(m.queue, one)
	m.some.Store(true)
	m.mu.Unlock()
	select {
	case m.added <- struct{}{}:
	default: // it will be looked at
	}
}

// next takes out the first mark, if it is due at a position.
func (m *marks[T]) next(position uint64) (mark[T], bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.some.Store(false)
		return mark[T]{}, false
	}
	first := m.queue[0]
	if position < first.at {
		return mark[T]{}, false
	}
	m.queue[0] = mark[T]{}
	m.queue = m.queue[1:]
	return first, true
}

// clear forgets all marks.
func (m *marks[T]) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = nil
}
