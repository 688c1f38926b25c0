package simulated_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// visitor is a handler that checks its events, and when they come. It takes its time now and
// then. Its methods are for the goroutine that calls it, unless they say otherwise.
type visitor struct {
	told     *history.History[*corev1.Pod]
	read     func(index.Key) (*corev1.Pod, bool) // of the informer
	prompt   func(random *rand.Rand)             // called now and then; nil: nothing is
	random   *rand.Rand
	pause    time.Duration // that it makes at most; 0: none
	until    time.Time     // it makes none after that
	coalesce bool

	woke time.Time          // when its last pause has ended
	seen map[index.Key]bool // the keys of its events at that moment, afterwards

	mu     sync.Mutex
	errs   []error // guarded by mu; the first
	closed bool    // guarded by mu; it is not to be called any more
}

// check returns what is wrong. It may be called from any goroutine, when all rest.
func (v *visitor) check(now simulation.State) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return errors.Join(v.errs...)
	}
	return errors.Join(v.told.Err(), errors.Join(v.errs...), differences(v.told.Undead(simulation.Objects[*corev1.Pod](now))))
}

// close notes that no more events may follow. It may be called from any goroutine.
func (v *visitor) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed {
		v.closed = true
		v.errs = append(v.errs, v.told.Err())
	}
}

// isClosed reports whether close was called. It may be called from any goroutine.
func (v *visitor) isClosed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.closed
}

func (v *visitor) fail(format string, args ...any) {
	if len(v.errs) < 3 {
		v.errs = append(v.errs, fmt.Errorf(format, args...))
	}
}

// OnAdd implements typed.Handler.
func (v *visitor) OnAdd(obj *corev1.Pod, initial bool) {
	v.ask(!initial)
	v.look(obj, initial, false)
	v.told.OnAdd(obj, initial)
}

// OnUpdate implements typed.Handler.
func (v *visitor) OnUpdate(old, updated *corev1.Pod) {
	v.ask(old != updated)
	v.look(updated, false, false)
	v.told.OnUpdate(old, updated)
}

// OnDelete implements typed.Handler.
func (v *visitor) OnDelete(deleted typed.Deleted[*corev1.Pod]) {
	v.ask(true)
	v.look(deleted.Object, false, deleted.Reason != index.OutOfScope)
	v.told.OnDelete(deleted)
}

// ask calls prompt now and then if something has changed: not for a resync, which would
// lead to others.
func (v *visitor) ask(changed bool) {
	if changed && v.prompt != nil && v.random.IntN(8) == 0 && !time.Now().Equal(v.woke) {
		v.prompt(v.random)
	}
}

// look looks at one event.
func (v *visitor) look(obj *corev1.Pod, initial, gone bool) {
	key := index.KeyOf(obj)
	v.checkRead(key, obj, gone)
	v.checkPending(key, initial)
	if v.pause > 0 && v.random.IntN(3) == 0 && time.Now().Before(v.until) {
		time.Sleep(time.Duration(1 + v.random.Int64N(int64(v.pause))))
		v.woke, v.seen = time.Now(), map[index.Key]bool{}
	}
}

// checkRead checks the promise that the store is first: a read is no older than the event.
func (v *visitor) checkRead(key index.Key, obj *corev1.Pod, gone bool) {
	has, ok := v.read(key)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		v.fail("it is told of %s after it was removed", key)
	}
	switch {
	case !ok: // it may be gone since
	case gone && has.UID == obj.UID:
		v.fail("%s is told of as deleted, and is still read", key)
	case older(has.ResourceVersion, obj.ResourceVersion):
		v.fail("%s is told of at version %s, and read at version %s", key, obj.ResourceVersion, has.ResourceVersion)
	}
}

// checkPending checks the promise of Coalesce: when the handler continues after a pause, no more
// than one event of each object has waited for it.
func (v *visitor) checkPending(key index.Key, initial bool) {
	if !v.coalesce || initial || !time.Now().Equal(v.woke) {
		return
	}
	if v.seen[key] {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.fail("two events of %s have waited", key)
	}
	v.seen[key] = true
}

// older reports whether a version is older than another one.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order < 0
}
