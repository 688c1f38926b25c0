package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// LastSyncResourceVersion is what was last received, the store's is what was
// last put into it.
func TestContractResourceVersions(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "3"))
		r.run()
		check := func(want string) {
			t.Helper()
			assert.Equal(t, want, r.LastSyncResourceVersion())
			assert.Equal(t, want, r.GetStore().LastStoreSyncResourceVersion())
		}
		check("10")
		r.send(added(pod("b", "11")))
		check("11")
		r.send(modified(pod("b", "12")))
		check("12")
		r.send(deleted(pod("b", "13")))
		check("13")
		r.send(bookmark("20"))
		check("20")
		r.send(modified(pod("a", "19")))
		check("19") // whatever it is, it is not compared
		r.send(deleted(pod("never seen", "21")))
		check("21")
		r.relist("30", pod("a", "22"))
		check("30")
	})
}

func TestContractResourceVersionOfDroppedEvents(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		service := &corev1.Service{}
		service.SetResourceVersion("11")
		r.send(added(service))
		assert.Equal(t, "10", r.LastSyncResourceVersion(), "what is of another type was not seen")
	})
}

// Fake clientsets list without a version. Adds may then come out of order.
func TestContractResourceVersionOfListWithout(t *testing.T) {
	for _, version := range []string{"", "0"} {
		t.Run("version="+version, func(t *testing.T) {
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newRig(t, pods)
				r.script.lists(version, pod("a", "1"))
				r.run()
				assert.Equal(t, version, r.LastSyncResourceVersion())
				r.send(added(pod("b", "2")))
				assert.Equal(t, version, r.LastSyncResourceVersion())
				assert.Equal(t, "2", r.GetStore().LastStoreSyncResourceVersion())
				r.send(modified(pod("b", "3")))
				assert.Equal(t, "3", r.LastSyncResourceVersion())
				r.send(added(pod("c", "4")))
				assert.Equal(t, "4", r.LastSyncResourceVersion(), "adds count again")
			})
		})
	}
}
