package adapters_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// toKey is a transform that keeps the keys of objects alone, and so no versions.
// Those of the namespace "whole" stay as they are.
func toKey(obj any) (any, error) {
	if obj.(*corev1.Pod).Namespace == "whole" {
		return obj, nil
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	return cache.ExplicitKey(key), err
}

// A handler without resyncs is spared the updates that change no version. Where
// there is none, nothing can be said about it, and it gets all of them.
func TestContractUpdatesOfUnversionedObjects(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		r := newResyncRig(t, untypedPods(impl), time.Minute)
		require.NoError(t, r.SetTransform(toKey))
		r.script.lists("10", pod("a", "1"), podIn("whole", "b", "2"), podIn("whole", "c", ""))
		each, never := r.handle(), r.handleWith(cache.HandlerOptions{ResyncPeriod: new(time.Duration)})
		r.run()
		each.next()
		never.next()
		time.Sleep(time.Minute + time.Second)
		assert.Equal(t, []string{
			"update cache.ExplicitKey cache.ExplicitKey",
			"update whole/b@2 whole/b@2",
			"update whole/c@ whole/c@",
		}, each.nextSorted())
		assert.Equal(t, []string{"update cache.ExplicitKey cache.ExplicitKey"}, never.next(), "a resync is an update as any other")

		r.send(modified(pod("a", "11")), modified(podIn("whole", "b", "2")), modified(podIn("whole", "c", "")), modified(podIn("whole", "b", "12")))
		updates := []string{
			"update cache.ExplicitKey cache.ExplicitKey",
			"update whole/b@2 whole/b@2",
			"update whole/c@ whole/c@",
			"update whole/b@2 whole/b@12",
		}
		assert.Equal(t, updates, each.next())
		assert.Equal(t, []string{updates[0], updates[3]}, never.next(), "an empty version equals an empty version")
	})
}

// The store's version is that of the last event, even if that has none.
func TestContractStoreVersionOfEvents(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		r := newRig(t, untypedPods(impl))
		require.NoError(t, r.SetTransform(toKey))
		r.run()
		version := func() string { return r.GetStore().LastStoreSyncResourceVersion() }
		assert.Equal(t, "10", version())
		r.send(added(podIn("whole", "a", "11")))
		assert.Equal(t, "11", version())
		r.send(modified(podIn("whole", "a", "")))
		assert.Empty(t, version())
		r.send(modified(podIn("whole", "a", "13")))
		assert.Equal(t, "13", version())
		r.send(added(pod("b", "14")))
		assert.Equal(t, "13", version(), "what was stored has no version to tell")
		r.send(deleted(podIn("whole", "a", "")))
		assert.Empty(t, version())
		r.send(bookmark("16"))
		assert.Equal(t, "16", version())
		r.send(bookmark(""))
		assert.Empty(t, version())
		r.relist("20", pod("b", "17"))
		assert.Equal(t, "20", version())
		r.relist("")
		assert.Empty(t, version())
	})
}

// untypedPods makes informers of Pods, in which there may be something else.
func untypedPods(impl implementation) newPods {
	return func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return impl.withOptions(lw, &corev1.Pod{}, options)
	}
}
