package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
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

// A controller that waits for its writes compares the store's version with theirs: when an
// event comes, the store's is that of the event, or of the list.
func TestContractResourceVersionsCompared(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("9", pod("a", "3"))
		var orders []int
		compare := func(obj *corev1.Pod) {
			order, err := resourceversion.CompareResourceVersion(r.GetStore().LastStoreSyncResourceVersion(), obj.ResourceVersion)
			assert.NoError(t, err)
			orders = append(orders, order)
		}
		_, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { compare(obj.(*corev1.Pod)) },
			UpdateFunc: func(_, obj any) { compare(obj.(*corev1.Pod)) },
			DeleteFunc: func(obj any) { compare(obj.(*corev1.Pod)) },
		})
		require.NoError(t, err)
		r.run()
		r.send(added(pod("b", "10")))
		r.send(modified(pod("b", "99")))
		r.send(deleted(pod("b", "100")))
		assert.Equal(t, []int{1, 0, 0, 0}, orders)
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
