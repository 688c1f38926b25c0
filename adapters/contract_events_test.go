package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// What an event is to handlers depends on the store, not on its type.
func TestContractWatchEvents(t *testing.T) {
	tests := []struct {
		name   string
		events []event
		calls  []string
		store  []string
	}{
		{"add of an unknown object", []event{added(pod("b", "11"))},
			[]string{"add ns/b@11"}, []string{"ns/a@1", "ns/b@11"}},
		{"add of a known object", []event{added(pod("a", "11"))},
			[]string{"update ns/a@1 ns/a@11"}, []string{"ns/a@11"}},
		{"modification of a known object", []event{modified(pod("a", "11"))},
			[]string{"update ns/a@1 ns/a@11"}, []string{"ns/a@11"}},
		{"modification of an unknown object", []event{modified(pod("b", "11"))},
			[]string{"add ns/b@11"}, []string{"ns/a@1", "ns/b@11"}},
		{"deletion of a known object, as the event has it", []event{deleted(pod("a", "11"))},
			[]string{"delete ns/a@11"}, nil},
		{"deletion of an unknown object", []event{deleted(pod("b", "11"))},
			[]string{"delete ns/b@11"}, []string{"ns/a@1"}},
		{"deletion twice", []event{deleted(pod("a", "11")), deleted(pod("a", "12"))},
			[]string{"delete ns/a@11", "delete ns/a@12"}, nil},
		{"deletion and creation", []event{deleted(pod("a", "11")), added(pod("a", "12"))},
			[]string{"delete ns/a@11", "add ns/a@12"}, []string{"ns/a@12"}},
		{"the same version again", []event{modified(pod("a", "1")), added(pod("a", "1"))},
			[]string{"update ns/a@1 ns/a@1", "update ns/a@1 ns/a@1"}, []string{"ns/a@1"}},
		{"an older version", []event{modified(pod("a", "11")), modified(pod("a", "5"))},
			[]string{"update ns/a@1 ns/a@11", "update ns/a@11 ns/a@5"}, []string{"ns/a@5"}},
		{"no version", []event{modified(pod("a", "")), modified(pod("a", ""))},
			[]string{"update ns/a@1 ns/a@", "update ns/a@ ns/a@"}, []string{"ns/a@"}},
		{"bookmark", []event{bookmark("11"), modified(pod("a", "12"))},
			[]string{"update ns/a@1 ns/a@12"}, []string{"ns/a@12"}},
		{"unknown type of event", []event{{Type: "NEWS", Object: pod("b", "11")}, modified(pod("a", "12"))},
			[]string{"update ns/a@1 ns/a@12"}, []string{"ns/a@12"}},
		{"cluster-scoped object", []event{added(podIn("", "a", "11"))},
			[]string{"add a@11"}, []string{"a@11", "ns/a@1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newRig(t, pods)
				r.script.lists("10", pod("a", "1"))
				rec := r.handle()
				r.run()
				rec.next()
				r.send(test.events...)
				assert.Equal(t, test.calls, rec.next(), "in one batch")
				assert.ElementsMatch(t, test.store, describeAll(r.GetStore().List()))
			})
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newRig(t, pods)
				r.script.lists("10", pod("a", "1"))
				rec := r.handle()
				r.run()
				rec.next()
				var calls []string
				for _, e := range test.events {
					r.send(e)
					calls = append(calls, rec.next()...)
				}
				assert.Equal(t, test.calls, calls, "one by one")
				assert.ElementsMatch(t, test.store, describeAll(r.GetStore().List()))
			})
		})
	}
}

// UIDs do not matter: another object of the same name is an update.
func TestContractRecreatedObject(t *testing.T) {
	first, second, third := pod("a", "1"), pod("a", "11"), pod("a", "20")
	first.UID, second.UID, third.UID = "1", "2", "3"
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", first)
		rec := r.handle()
		r.run()
		r.send(modified(second))
		r.relist("20", third)
		objs := rec.objects()
		assert.Equal(t, []string{"initial ns/a@1", "update ns/a@1 ns/a@11", "update ns/a@11 ns/a@20"}, rec.next())
		require.Len(t, objs, 5)
		assert.Equal(t, first.UID, objs[1].(*corev1.Pod).UID)
		assert.Equal(t, second.UID, objs[2].(*corev1.Pod).UID)
		assert.Equal(t, third.UID, objs[4].(*corev1.Pod).UID)
	})
}

// An informer drops watch events whose objects are not of the example's type.
func TestContractWrongTypes(t *testing.T) {
	service := &corev1.Service{}
	service.Name, service.Namespace, service.ResourceVersion = "s", "ns", "11"
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		r.run()
		for _, e := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark} {
			r.send(event{Type: e, Object: service})
		}
		r.send(added(pod("a", "12")))
		assert.Equal(t, []string{"add ns/a@12"}, rec.next())
		assert.Len(t, r.script.listCalls(), 1, "the watch goes on")
	})
}

// Without an example anything goes.
func TestContractAnyType(t *testing.T) {
	service := &corev1.Service{}
	service.Name, service.Namespace, service.ResourceVersion = "s", "ns", "11"
	eachImplementation(t, func(t *testing.T, impl implementation) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return impl.withOptions(lw, nil, options)
		})
		rec := r.handle()
		r.run()
		r.send(added(service), added(pod("a", "12")), added(pod("s", "13")))
		assert.Equal(t, []string{"add ns/s@11", "add ns/a@12", "update ns/s@11 ns/s@13"}, rec.next())
		assert.Len(t, r.GetStore().List(), 2)
	})
}

// Lists are not looked at as watch events are: whatever is in one is stored.
func TestContractListOfSeveralTypes(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		s := &script{}
		s.answers(listOf("10", pod("a", "1"), &corev1.Service{}, &corev1.Node{}))
		inf := impl.simple(s, &corev1.Pod{}, 0, cache.Indexers{})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Equal(t, []string{"initial ns/a@1", "initial @", "initial @"}, rec.next(), "two have no name, and so the same")
		assert.Equal(t, []string{"", "ns/a"}, sorted(inf.GetStore().ListKeys()))
		nameless, _, err := inf.GetStore().GetByKey("")
		require.NoError(t, err)
		assert.IsType(t, &corev1.Node{}, nameless)
	})
}

// A list of something without metadata cannot be used, yet counts.
func TestContractListOfObjectsWithoutMetadata(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		s := &script{}
		s.answers(listOf("10", &corev1.PodList{}))
		inf := impl.simple(s, nil, 0, cache.Indexers{})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Empty(t, rec.next())
		assert.Empty(t, inf.GetStore().List())
		assert.True(t, inf.HasSynced())
		s.send(t, added(pod("b", "11")))
		assert.Equal(t, []string{"add ns/b@11"}, rec.next())
	})
}
