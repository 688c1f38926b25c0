package control

import (
	"errors"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
)

// Enqueue returns a handler that adds the key of each object that it is notified of to a
// queue, deletions included:
//
//	pods.Handle(control.Enqueue[*corev1.Pod](q))
//
// No key is added for a deletion with the reason index.Released: the object is there, and
// another process's from then on.
//
// A key is added with queue.LowPriority when nothing has changed: for initial
// objects, for a resync, and for an update that leaves an object at the same
// resource version, as after a relist. Everything else has priority 0, a
// deletion too.
//
// The handler may be added to several informers. [typed.Informer.Handle] returns an
// error if the queue is nil.
func Enqueue[T index.Object](q Adder[index.Key]) typed.Handler[T] {
	return &enqueue[T]{queue: q}
}

type enqueue[T index.Object] struct{ queue Adder[index.Key] }

func (h *enqueue[T]) Describe() (string, error) { return "enqueue", needQueue(h.queue) }

func (h *enqueue[T]) OnAdd(obj T, initial bool) {
	h.queue.AddWithOptions(index.KeyOf(obj), forAdd(initial))
}

func (h *enqueue[T]) OnUpdate(old, updated T) {
	h.queue.AddWithOptions(index.KeyOf(updated), forUpdate(old, updated))
}

func (h *enqueue[T]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released {
		return
	}
	h.queue.AddWithOptions(deleted.Key, queue.AddOptions{})
}

// EnqueueFunc returns a handler that calls a function for each changed object, and adds the
// returned keys to a queue. Priorities and exceptions are those of Enqueue.
//
// For an update, these are the keys for the object before and after it, each once; for a
// deletion, those for its last state, and for the state that the handler was notified of
// before if that is another one. So what has lost an object learns of it.
//
// The function must not modify the object. A sequence may be nil, which is no
// keys. [typed.Informer.Handle] returns an error if the queue or the function is nil.
func EnqueueFunc[K comparable, T index.Object](q Adder[K], keys func(obj T) iter.Seq[K]) typed.Handler[T] {
	return &enqueueFunc[K, T]{queue: q, keys: keys}
}

type enqueueFunc[K comparable, T index.Object] struct {
	queue Adder[K]
	keys  func(obj T) iter.Seq[K]
}

func (h *enqueueFunc[K, T]) Describe() (string, error) {
	err := needQueue(h.queue)
	if h.keys == nil {
		err = errors.Join(err, errors.New("key function is nil"))
	}
	return "enqueue by function", err
}

func (h *enqueueFunc[K, T]) OnAdd(obj T, initial bool) {
	var none T
	h.add(none, obj, forAdd(initial))
}

func (h *enqueueFunc[K, T]) OnUpdate(old, updated T) { h.add(old, updated, forUpdate(old, updated)) }

func (h *enqueueFunc[K, T]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released {
		return
	}
	h.add(deleted.Old, deleted.Object, queue.AddOptions{})
}

// add adds the keys for two states of an object, of which the older one may be
// missing or the same.
func (h *enqueueFunc[K, T]) add(old, obj T, o queue.AddOptions) {
	var none T
	if index.Same(old, none) || index.Same(old, obj) {
		for key := range orNone(h.keys(obj)) {
			h.queue.AddWithOptions(key, o)
		}
		return
	}
	var added keySet[K]
	for _, state := range [...]T{obj, old} {
		for key := range orNone(h.keys(state)) {
			if added.insert(key) {
				h.queue.AddWithOptions(key, o)
			}
		}
	}
}

// EnqueueKey is EnqueueFunc for objects that each have one key, or none, if the function
// returns false:
//
//	pods.Handle(control.EnqueueKey(q, func(p *corev1.Pod) (string, bool) {
//		return p.Spec.NodeName, p.Spec.NodeName != ""
//	}))
func EnqueueKey[K comparable, T index.Object](q Adder[K], key func(obj T) (K, bool)) typed.Handler[T] {
	if key == nil {
		return EnqueueFunc[K, T](q, nil)
	}
	return EnqueueFunc(q, func(obj T) iter.Seq[K] {
		k, ok := key(obj)
		if !ok {
			return nil
		}
		return func(yield func(K) bool) { yield(k) }
	})
}

// orNone returns keys, or an empty sequence if that is nil.
func orNone[K any](keys iter.Seq[K]) iter.Seq[K] {
	if keys == nil {
		return func(func(K) bool) {}
	}
	return keys
}

// needQueue returns an error if there is no queue, including the nil of a NewWorkQueue whose
// error the caller ignored.
func needQueue[K comparable](q Adder[K]) error {
	if argument.IsNil(q) {
		return errors.New("queue is nil")
	}
	return nil
}

// forAdd returns how the keys of an addition are to be added.
func forAdd(initial bool) queue.AddOptions {
	if initial {
		return queue.AddOptions{Priority: queue.LowPriority}
	}
	return queue.AddOptions{}
}

// forUpdate returns how the keys of an update are to be added.
func forUpdate[T index.Object](old, updated T) queue.AddOptions {
	if index.Same(old, updated) || sameVersion(old, updated) {
		return queue.AddOptions{Priority: queue.LowPriority}
	}
	return queue.AddOptions{}
}

// sameVersion reports whether two objects are known to be the same state of one
// object.
func sameVersion[T index.Object](a, b T) bool {
	versionA, ok := any(a).(versionGetter)
	if !ok || versionA.GetResourceVersion() == "" {
		return false
	}
	versionB, ok := any(b).(versionGetter)
	return ok && versionA.GetResourceVersion() == versionB.GetResourceVersion() && !recreated(a, b)
}

// recreated reports whether two objects are known to have different UIDs.
func recreated[T index.Object](old, updated T) bool {
	was, ok := any(old).(uidGetter)
	if !ok {
		return false
	}
	is, ok := any(updated).(uidGetter)
	return ok && was.GetUID() != is.GetUID()
}

type uidGetter interface{ GetUID() types.UID }

type versionGetter interface{ GetResourceVersion() string }

// Adder is a queue to which keys can be added. Every *queue.WorkQueue is
// one; AdderFunc makes one of another queue.
type Adder[K comparable] interface {
	// AddWithOptions makes the key wait as o says, see queue.WorkQueue. It is
	// called by many goroutines, some of which are those of informers, and must
	// not wait for anything.
	AddWithOptions(key K, o queue.AddOptions)
}

// AdderFunc makes an Adder of a queue that has no options, such as those of
// client-go:
//
//	control.AdderFunc[index.Key](q.Add)
type AdderFunc[K comparable] func(key K)

// AddWithOptions adds the key, and leaves the options aside.
func (f AdderFunc[K]) AddWithOptions(key K, _ queue.AddOptions) { f(key) }

// keySet is a set that is empty at first. It is made for a handful of keys, for
// which it allocates nothing, and gets along with many.
type keySet[K comparable] struct {
	few  [handful]K
	n    int            // how many of few there are
	many map[K]struct{} // all keys, once there are more than that
}

// handful is up to how many keys it costs less to compare all of them than to
// hash one and to allocate a map.
const handful = 8

// insert adds key, and reports whether it was not there.
func (s *keySet[K]) insert(key K) bool {
	if s.many == nil {
		if slices.Contains(s.few[:s.n], key) {
			return false
		}
		if s.n < handful {
			s.few[s.n] = key
			s.n++
			return true
		}
		s.many = make(map[K]struct{}, 4*handful)
		for _, k := range s.few {
			s.many[k] = struct{}{}
		}
	}
	if _, ok := s.many[key]; ok {
		return false
	}
	s.many[key] = struct{}{}
	return true
}
