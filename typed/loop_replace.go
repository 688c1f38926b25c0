package typed

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/queue"
)

// errPanicked is the reason why an informer has not taken up a list.
var errPanicked = errors.New("the list was not stored: an index function, or a method of an object, has panicked")

// replace makes the objects of a list the content of the store, or of a namespace,
// and publishes the events. Objects for which an index function panics are left out;
// if there are no others in the first list, the informer is not synced by it. A reason
// other than 0 is that of the events.
func (l *loop[T]) replace(list *queue.List[T], reason index.Reason, version string) {
	kept := list.Kept
	l.keep(list)
	if l.withheld && len(kept) > 0 && len(list.Objects) == 0 && l.isFirst(list, reason) {
		l.withhold(list, kept) // after a list of which the loop itself has rejected everything
		return
	}
	if l.watched != nil {
		defer l.watched.storing(nil, list.Objects)()
	}
	if l.tryReplace(list, nil, reason, version) {
		return
	}
	rejected, left := l.leaveOut(list)
	if len(rejected) > 0 && !left && l.isFirst(list, reason) {
		l.withhold(list, slices.Concat(kept, rejected))
		return
	}
	if len(rejected) == 0 || !l.tryReplace(list, rejected, reason, version) {
		l.informer.health.report(l.informer.ctx, l.informer.name, errPanicked)
	}
}

// withhold notes that nothing of the first list can be used.
func (l *loop[T]) withhold(list *queue.List[T], rejected []index.Key) {
	l.withheld, l.missing = true, map[index.Key]struct{}{}
	for _, key := range rejected {
		l.missing[key] = struct{}{}
	}
	if list.Done != nil {
		l.unstored = append(l.unstored, list.Done)
	}
	l.informer.health.rejections.repairAll("", byLoop, rejected)
	err := fmt.Errorf("all %d objects of the first list were rejected, such as: %w", len(rejected), l.informer.health.rejections.lastOne())
	l.informer.health.withhold(err)
	l.informer.followers.report(err)
}

// isFirst reports whether a list is the first one of everything.
func (l *loop[T]) isFirst(list *queue.List[T], reason index.Reason) bool {
	return hasEverything(list, reason) && !l.informer.isSynced()
}

// hasEverything reports whether a list has all that there is, rather than say that all leaves.
func hasEverything[T index.Object](list *queue.List[T], reason index.Reason) bool {
	return list.Namespace == metav1.NamespaceAll && reason != index.OutOfScope && reason != index.Released
}

// tryReplace is replace without leaving out objects: if something panics, it returns false, and
// nothing has changed. Rejected are the objects of the list that were rejected before.
func (l *loop[T]) tryReplace(list *queue.List[T], rejected []index.Key, reason index.Reason, version string) (done bool) {
	defer utilruntime.HandleCrashWithContext(l.informer.ctx)
	first := l.isFirst(list, reason)
	waiters := l.commitList(list, reason, version, first)
	done = true // even if what is called now panics
	if l.watched != nil {
		l.watched.stored(nil, list.Objects)
	}
	if first {
		l.informer.logger().V(2).Info("Informer has synced", "objects", l.informer.store.Len(), "resourceVersion", version)
	}
	if version != "" || list.Namespace == metav1.NamespaceAll {
		l.reached(version)
	}
	notify(waiters)
	l.informer.health.rejections.repairAll(list.Namespace, byLoop, rejected)
	maps.DeleteFunc(l.missing, func(key index.Key, _ struct{}) bool {
		return isWithin(key, list.Namespace) && !slices.Contains(rejected, key)
	})
	l.syncIfRepaired()
	return done
}

// keep adds to a list what the store has of the objects that were rejected, since
// that is no deletion.
func (l *loop[T]) keep(list *queue.List[T]) {
	if len(list.Kept) == 0 {
		return
	}
	listed := make(map[index.Key]bool, len(list.Objects))
	for _, obj := range list.Objects {
		if key, _, ok := identify(obj); ok {
			listed[key] = true
		}
	}
	for _, key := range list.Kept {
		if obj, ok := l.informer.store.Get(key); ok && !listed[key] {
			list.Objects = append(list.Objects, obj)
		}
	}
	list.Kept = nil
}

func (l *loop[T]) commitList(list *queue.List[T], reason index.Reason, version string, first bool) []*deletionWaiter {
	if list.Namespace == metav1.NamespaceAll {
		l.informer.lists.begin(version)
	} else {
		l.informer.lists.begin("")
	}
	defer l.informer.lists.end()
	l.informer.mu.Lock()
	defer l.informer.mu.Unlock()
	relist := !first && hasEverything(list, reason)
	if first {
		reason = index.Initial
	}
	reason = cmp.Or(reason, index.Relisted)
	began := l.watched.begin()
	if list.Namespace == metav1.NamespaceAll {
		l.events = l.informer.store.Replace(nil, list.Objects, version, reason)
	} else {
		l.events = l.informer.store.ReplaceNamespace(nil, list.Namespace, list.Objects, version, reason)
	}
	l.watched.end(began)
	if relist { // and nothing has panicked
		l.informer.relists.Add(1)
	}
	if list.Done != nil {
		goroutine.CallSafely(list.Done)
	}
	waiters := waitersFor(&l.informer.deletions, l.events)
	changed := len(l.events) > 0
	l.publish(version)
	l.events = nil // it may be large
	if first || changed && l.withheld {
		l.sync()
	}
	return waiters
}
