package adapters_test

import (
	"fmt"
	"sort"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// recorder is a handler that writes down its calls.
type recorder struct {
	handle cache.ResourceEventHandlerRegistration
	before func(call string) // called first, if set

	mu    sync.Mutex
	calls []string
	objs  []any // of the calls, as given
}

func (r *recorder) OnAdd(obj any, isInInitialList bool) {
	if isInInitialList {
		r.note("initial "+describe(obj), obj)
		return
	}
	r.note("add "+describe(obj), obj)
}

func (r *recorder) OnUpdate(oldObj, newObj any) {
	r.note("update "+describe(oldObj)+" "+describe(newObj), oldObj, newObj)
}

func (r *recorder) OnDelete(obj any) { r.note("delete "+describe(obj), obj) }

func (r *recorder) note(call string, objs ...any) {
	if r.before != nil {
		r.before(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	r.objs = append(r.objs, objs...)
}

// next returns the calls since the last next, once nothing more happens.
func (r *recorder) next() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls, r.objs = nil, nil
	return calls
}

// nextSorted is next for calls whose order is not promised.
func (r *recorder) nextSorted() []string {
	calls := r.next()
	sort.Strings(calls)
	return calls
}

// objects returns the objects of the calls since the last next.
func (r *recorder) objects() []any {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]any(nil), r.objs...)
}

// describe writes an object as key@version, and tombstones around it.
func describe(obj any) string {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if d.Obj == nil {
			return fmt.Sprintf("tombstone(%s)", d.Key)
		}
		return fmt.Sprintf("tombstone(%s %s)", d.Key, describe(d.Obj))
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return cache.MetaObjectToName(m).String() + "@" + m.GetResourceVersion()
}

// describeAll returns the sorted descriptions of objects.
func describeAll[T any](objs []T) []string {
	all := make([]string, 0, len(objs))
	for _, obj := range objs {
		all = append(all, describe(obj))
	}
	sort.Strings(all)
	return all
}

// pod returns a Pod of namespace "ns".
func pod(name, version string) *corev1.Pod { return podIn("ns", name, version) }

func podIn(namespace, name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: version}}
}

// sorted returns the strings sorted.
func sorted(s []string) []string {
	sort.Strings(s)
	return s
}
