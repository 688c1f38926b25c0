package adapters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// mark is a transform that marks what it has seen, in place.
func mark(obj any) (any, error) {
	obj.(*corev1.Pod).Annotations = map[string]string{"transformed": "true"}
	return obj, nil
}

func marked(obj any) bool {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	return obj.(*corev1.Pod).Annotations["transformed"] == "true"
}

func TestContractTransform(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		require.NoError(t, r.SetTransform(mark))
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		rec := r.handle()
		r.run()
		r.send(added(pod("c", "11")), modified(pod("a", "12")), deleted(pod("b", "13")), deleted(pod("unknown", "14")))
		r.relist("20", pod("d", "15"))
		objs := rec.objects()
		assert.Len(t, rec.next(), 9)
		require.Len(t, objs, 10)
		for _, obj := range objs {
			assert.True(t, marked(obj), describe(obj))
		}
		for _, obj := range r.GetStore().List() {
			assert.True(t, marked(obj), describe(obj))
		}
	})
}

// Each listed and watched object is transformed once; what comes from the store
// is not transformed again, and what users put there not at all.
func TestContractTransformOnce(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		var seen []string
		require.NoError(t, r.SetTransform(func(obj any) (any, error) {
			seen = append(seen, describe(obj))
			return obj, nil
		}))
		r.run()
		require.NoError(t, r.GetStore().Add(pod("seeded", "2")))
		r.handle()
		r.send(added(pod("b", "11")), deleted(pod("b", "12")))
		r.relist("20", pod("c", "13"))
		assert.Equal(t, []string{"ns/a@1", "ns/b@11", "ns/b@12", "ns/c@13"}, seen)
	})
}

// A transform may return another object, of another type even.
func TestContractTransformToAnotherType(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		s := &script{}
		s.lists("10", pod("a", "1"))
		inf := impl.simple(s, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		require.NoError(t, inf.SetTransform(func(obj any) (any, error) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return nil, err
			}
			return &metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: strings.ToUpper(m.GetName()), ResourceVersion: m.GetResourceVersion()}, nil
		}))
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Equal(t, []string{"initial ns/A@1"}, rec.next(), "the new object's key counts")
		s.send(t, modified(pod("a", "11")))
		assert.Equal(t, []string{"update ns/A@1 ns/A@11"}, rec.next())
		got, _, err := inf.GetStore().GetByKey("ns/A")
		require.NoError(t, err)
		assert.IsType(t, &metav1.ObjectMeta{}, got)
		s.send(t, deleted(pod("a", "12")))
		assert.Equal(t, []string{"delete ns/A@12"}, rec.next())
		assert.Empty(t, inf.GetStore().List())
	})
}

// A watch event whose object cannot be transformed is dropped.
func TestContractTransformFailsOnWatch(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		require.NoError(t, r.SetTransform(picky))
		faults := watchFaults(t, r)
		rec := r.handle()
		r.run()
		r.send(added(pod("bad", "11")))
		assert.Equal(t, "11", r.LastSyncResourceVersion(), "though it was seen")
		r.send(added(pod("b", "12")), modified(pod("bad", "13")), deleted(pod("bad", "14")), deleted(pod("b", "15")))
		assert.Equal(t, []string{"add ns/b@12", "delete ns/b@15"}, rec.next())
		assert.Empty(t, *faults)
		assert.Len(t, r.script.listCalls(), 1)
	})
}

// A list with an object that cannot be transformed fails as a whole.
func TestContractTransformFailsOnList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		require.NoError(t, r.SetTransform(picky))
		faults := watchFaults(t, r)
		rec := r.handle()
		r.script.lists("10", pod("a", "1"), pod("bad", "2"))
		r.run()
		assert.False(t, r.HasSynced())
		assert.Empty(t, r.LastSyncResourceVersion())
		require.Len(t, *faults, 1)
		assert.EqualError(t, (*faults)[0], "unable to sync list result: bad object")
		r.script.lists("20", pod("a", "11"))
		r.script.awaitLists(2)
		assert.True(t, r.HasSynced())
		assert.Equal(t, []string{"initial ns/a@11"}, rec.next())
	})
}

func TestContractTransformIsSetBeforeStart(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		require.NoError(t, r.SetTransform(func(any) (any, error) { return nil, errors.New("replaced") }))
		require.NoError(t, r.SetTransform(mark), "the last one counts")
		r.run()
		assert.ErrorContains(t, r.SetTransform(picky), "informer has already started")
		for _, obj := range r.GetStore().List() {
			assert.True(t, marked(obj))
		}
		assert.True(t, r.HasSynced())
		r.halt()
		assert.ErrorContains(t, r.SetTransform(picky), "informer has already started")
	})
}

func TestContractTransformCanBeUnset(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		require.NoError(t, r.SetTransform(picky))
		require.NoError(t, r.SetTransform(nil))
		r.script.lists("10", pod("bad", "1"))
		r.run()
		assert.Len(t, r.GetStore().List(), 1)
	})
}

// picky fails on the object named bad.
func picky(obj any) (any, error) {
	if obj.(*corev1.Pod).Name == "bad" {
		return nil, errors.New("bad object")
	}
	return obj, nil
}
