package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func newStreamRig(t *testing.T, pods newPods) *rig {
	r := newRig(t, pods)
	r.script.streamed = true
	return r
}

// A list can be streamed: as a watch that begins with the current objects, up to a marked bookmark.
func TestContractStreamedList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		rec := r.handle()
		r.run()
		options := r.script.watchCalls()[0].options
		require.NotNil(t, options.TimeoutSeconds)
		options.TimeoutSeconds = nil
		assert.Equal(t, metav1.ListOptions{
			AllowWatchBookmarks:  true,
			SendInitialEvents:    ptr.To(true),
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}, options)

		r.send(added(pod("a", "1")), added(pod("b", "2")), added(pod("c", "3")), modified(pod("b", "4")), deleted(pod("c", "5")), bookmark("6"))
		assert.Empty(t, rec.next(), "nothing is seen of it before the end")
		assert.Empty(t, r.GetStore().List())
		assert.False(t, r.HasSynced())
		assert.Empty(t, r.LastSyncResourceVersion())
		r.send(initialEnd("10"))
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/b@4"}, rec.nextSorted())
		assert.True(t, r.HasSynced())
		assert.True(t, rec.handle.HasSynced())
		assert.Equal(t, "10", r.LastSyncResourceVersion())
		assert.Equal(t, "10", r.GetStore().LastStoreSyncResourceVersion())

		r.send(added(pod("d", "11")), modified(pod("a", "12")))
		assert.Equal(t, []string{"add ns/d@11", "update ns/a@1 ns/a@12"}, rec.next(), "the watch goes on")
		assert.Equal(t, "12", r.LastSyncResourceVersion())
		assert.Len(t, r.script.watchCalls(), 1)
		assert.Empty(t, r.script.listCalls())
	})
}

func TestContractStreamedRelist(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		rec := r.handle()
		r.run()
		r.send(added(pod("a", "1")), added(pod("b", "2")), initialEnd("10"))
		rec.next()
		r.send(expired())
		r.script.awaitWatches(2)
		assert.Equal(t, "10", r.script.watchCalls()[1].options.ResourceVersion)
		r.send(added(pod("b", "2")), added(pod("c", "15")), initialEnd("20"))
		calls := rec.next()
		require.Len(t, calls, 3)
		assert.Equal(t, "delete tombstone(ns/a ns/a@1)", calls[0])
		assert.ElementsMatch(t, []string{"update ns/b@2 ns/b@2", "add ns/c@15"}, calls[1:])
		assert.Equal(t, "20", r.LastSyncResourceVersion())
	})
}

// Servers that cannot stream lists say so, and are asked for a list.
func TestContractStreamedListRefused(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		faults := watchFaults(t, r)
		r.script.lists("10", pod("a", "1"))
		r.script.refuses(apierrors.NewBadRequest("sendInitialEvents is forbidden"))
		r.run()
		assert.True(t, r.HasSynced())
		assert.Empty(t, *faults)
		assert.Len(t, r.script.listCalls(), 1)
		assert.Equal(t, "10", r.script.watchCalls()[1].options.ResourceVersion)
		assert.Nil(t, r.script.watchCalls()[1].options.SendInitialEvents)
		assert.Equal(t, []string{"ns/a@1"}, describeAll(r.GetStore().List()))
	})
}

func TestContractStreamedListRetried(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		r.script.refuses(apierrors.NewTooManyRequests("later", 1), apierrors.NewResourceExpired("too old"))
		r.run()
		r.script.awaitWatches(3)
		r.send(added(pod("lost", "1")))
		time.Sleep(20 * time.Second)
		r.send(ended())
		r.send(added(pod("a", "1")), initialEnd("10"))
		assert.Empty(t, r.script.listCalls())
		assert.Len(t, r.script.watchCalls(), 4)
		assert.Equal(t, []string{"ns/a@1"}, describeAll(r.GetStore().List()), "a broken stream leaves nothing")
	})
}

func TestContractStreamedListTransformed(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		require.NoError(t, r.SetTransform(mark))
		rec := r.handle()
		r.run()
		r.send(added(pod("a", "1")), added(pod("b", "2")), modified(pod("b", "3")), initialEnd("10"), modified(pod("a", "11")))
		objs := rec.objects()
		require.Len(t, objs, 4)
		for _, obj := range objs {
			assert.True(t, marked(obj), describe(obj))
		}
	})
}

// What cannot be transformed is left out of a streamed list.
func TestContractStreamedListTransformFails(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		require.NoError(t, r.SetTransform(picky))
		faults := watchFaults(t, r)
		r.run()
		r.send(added(pod("a", "1")), added(pod("bad", "2")), initialEnd("10"))
		assert.True(t, r.HasSynced())
		assert.Empty(t, *faults)
		assert.Equal(t, []string{"ns/a@1"}, describeAll(r.GetStore().List()))
	})
}

// If the stream and the list fail, the error handler receives the list's error.
func TestContractStreamedListAndListFail(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		faults := watchFaults(t, r)
		r.script.refuses(errors.New("no stream"))
		r.script.fails(errors.New("no list"))
		r.run()
		require.Len(t, *faults, 1)
		assert.EqualError(t, (*faults)[0], "failed to list *v1.Pod: no list")
		r.script.awaitWatches(2)
		assert.NotNil(t, r.script.watchCalls()[1].options.SendInitialEvents, "streams are tried again")
	})
}

func TestContractStopDuringStreamedList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newStreamRig(t, pods)
		r.run()
		r.send(added(pod("a", "1")))
		r.halt()
		assert.False(t, r.HasSynced())
		assert.Empty(t, r.GetStore().List())
	})
}
