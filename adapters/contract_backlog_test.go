package adapters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// held adds a recorder whose calls wait for release.
func (r *rig) held(d ...time.Duration) (rec *recorder, release func()) {
	r.t.Helper()
	hold := make(chan struct{})
	rec = &recorder{before: func(string) { <-hold }}
	var err error
	if len(d) > 0 {
		_, err = r.AddEventHandlerWithOptions(rec, period(d[0]))
	} else {
		_, err = r.AddEventHandler(rec)
	}
	require.NoError(r.t, err)
	return rec, func() { close(hold) }
}

// A slow handler receives every event of its backlog unmerged, with the old and the new object of
// that time.
func TestContractBacklog(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		rec, release := r.held()
		r.run()
		r.send(added(pod("b", "11")), modified(pod("b", "12")), modified(pod("b", "12")), deleted(pod("b", "13")), added(pod("b", "14")), deleted(pod("b", "15")))
		r.relist("20", pod("a", "1"), pod("c", "16"))
		r.relist("30")
		release()
		calls := rec.next()
		require.Len(t, calls, 11)
		assert.Equal(t, []string{
			"initial ns/a@1",
			"add ns/b@11", "update ns/b@11 ns/b@12", "update ns/b@12 ns/b@12", "delete ns/b@13", "add ns/b@14", "delete ns/b@15",
			"update ns/a@1 ns/a@1", "add ns/c@16",
		}, calls[:9])
		assert.ElementsMatch(t, []string{"delete tombstone(ns/a ns/a@1)", "delete tombstone(ns/c ns/c@16)"}, calls[9:])
	})
}

// So it is with resyncs: each that was due comes, with the state of its time.
func TestContractBacklogOfResyncs(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		rec, release := r.held()
		r.run()
		time.Sleep(2*time.Minute + time.Second)
		r.send(modified(pod("a", "11")))
		time.Sleep(time.Minute)
		r.send(deleted(pod("a", "12")))
		release()
		assert.Equal(t, []string{
			"initial ns/a@1",
			"update ns/a@1 ns/a@1", "update ns/a@1 ns/a@1",
			"update ns/a@1 ns/a@11",
			"update ns/a@11 ns/a@11",
			"delete ns/a@12",
		}, rec.next())
	})
}

// Whether an unchanged update is for a handler is decided when it is received.
func TestContractBacklogOfSameVersions(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		rec, release := r.held(2 * time.Minute)
		r.run()
		r.send(modified(pod("a", "1"))) // all count
		time.Sleep(time.Minute + time.Second)
		r.send(modified(pod("a", "1"))) // it does not
		time.Sleep(time.Minute)         // it does
		release()
		assert.Equal(t, []string{"initial ns/a@1", "update ns/a@1 ns/a@1", "update ns/a@1 ns/a@1"}, rec.next(), "the first and the resync")
	})
}

// A handler that comes late to others' backlog begins with the store as it is.
func TestContractBacklogOfOthers(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		slow, release := r.held()
		r.run()
		r.send(modified(pod("a", "11")), added(pod("b", "12")), deleted(pod("b", "13")))
		late, lateRelease := r.held()
		r.send(modified(pod("a", "14")))
		release()
		lateRelease()
		assert.Equal(t, []string{"initial ns/a@11", "update ns/a@11 ns/a@14"}, late.next())
		assert.Equal(t, []string{"initial ns/a@1", "update ns/a@1 ns/a@11", "add ns/b@12", "delete ns/b@13", "update ns/a@11 ns/a@14"}, slow.next())
	})
}

// A handler that is behind may be stopped with, and does not hold the store.
func TestContractBacklogAtStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		rec, release := r.held()
		r.run()
		r.send(modified(pod("a", "11")), deleted(pod("a", "12")))
		assert.Empty(t, r.GetStore().List())
		r.stop()
		synctest.Wait()
		_, err := r.AddEventHandler(&recorder{})
		assert.Error(t, err, "it is stopped though a handler runs")
		time.Sleep(time.Hour)
		release()
		<-r.ended
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
	})
}
