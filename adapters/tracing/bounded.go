package tracing

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// bounded is a map of so many entries, which are forgotten after a time. It is safe for
// concurrent use.
type bounded[K comparable, V any] struct {
	max int
	age time.Duration

	size  atomic.Int64 // to be read without mu
	mu    sync.Mutex
	byKey map[K]*list.Element // guarded by mu; of *entry[K, V]
	order list.List           // guarded by mu; oldest first
}

// entry is an entry of a bounded.
type entry[K comparable, V any] struct {
	key   K
	since time.Time
	value V
}

// newBounded returns an empty one.
func newBounded[K comparable, V any](t *Tracer) *bounded[K, V] {
	return &bounded[K, V]{max: t.events, age: t.age, byKey: map[K]*list.Element{}}
}

// isEmpty reports whether there is nothing, and costs nothing.
func (b *bounded[K, V]) isEmpty() bool { return b.size.Load() == 0 }

// change sets the value of a key to the one that f returns for it; if there is no such key, f
// gets the zero value. If f returns false, the key is forgotten. If f modifies a value, the
// value must not be used outside of f.
func (b *bounded[K, V]) change(key K, now time.Time, f func(value V) (V, bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	at, ok := b.byKey[key]
	if ok {
		e := at.Value.(*entry[K, V])
		value, keep := f(e.value)
		if e.value = value; !keep {
			b.remove(at)
		}
		return
	}
	var none V
	value, keep := f(none)
	if !keep {
		return
	}
	if len(b.byKey) >= b.max {
		b.remove(b.order.Front())
	}
	b.byKey[key] = b.order.PushBack(&entry[K, V]{key: key, since: now, value: value})
	b.size.Store(int64(len(b.byKey)))
}

// take returns the value of a key, and forgets it.
func (b *bounded[K, V]) take(key K, now time.Time) (value V, ok bool) {
	if b.isEmpty() {
		return value, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	at, ok := b.byKey[key]
	if !ok {
		return value, false
	}
	value = at.Value.(*entry[K, V]).value
	b.remove(at)
	return value, true
}

// expire forgets what is too old. The caller holds mu.
func (b *bounded[K, V]) expire(now time.Time) {
	for at := b.order.Front(); at != nil && now.Sub(at.Value.(*entry[K, V]).since) > b.age; at = b.order.Front() {
		b.remove(at)
	}
}

// remove forgets an entry. The caller holds mu.
func (b *bounded[K, V]) remove(at *list.Element) {
	delete(b.byKey, at.Value.(*entry[K, V]).key)
	b.order.Remove(at)
	b.size.Store(int64(len(b.byKey)))
}
