package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestPathFromShared: the sink receives all that a shared informer reports, which reports no
// reasons, no UIDs, no steps and no errors.
func TestPathFromShared(t *testing.T) {
	cell := func(name string, test func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod])) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub, end := newSharedStub(), &sinktest.Recorder[*corev1.Pod]{}
				sharedRun(t, func(ctx context.Context) error { return adapters.FromShared[*corev1.Pod](stub).Run(ctx, end) }, nil)
				synctest.Wait()
				test(t, stub, end)
			})
		})
	}
	a1, a2, b := sharedPod("a", 1), sharedPod("a", 2), sharedPod("b", 3)
	begin := func(stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) []sinktest.Report[*corev1.Pod] {
		stub.put("1", a1)
		stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(a1, true) })
		close(stub.synced)
		synctest.Wait()
		reports, _ := end.Take()
		return reports
	}
	cell("list", func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
		reports := begin(stub, end)
		require.Len(t, reports, 2)
		assert.Equal(t, [2]int{1, 0}, reports[0].Progress, "progress")
		assert.Len(t, reports[1].List.Items, 1)
		assert.Equal(t, "1", reports[1].Version, "version")
	})
	for name, call := range map[string]struct {
		send func(h cache.ResourceEventHandler)
		want index.Change[*corev1.Pod]
	}{
		"addition":  {func(h cache.ResourceEventHandler) { h.OnAdd(b, false) }, index.Change[*corev1.Pod]{Object: b}},
		"update":    {func(h cache.ResourceEventHandler) { h.OnUpdate(a1, a2) }, index.Change[*corev1.Pod]{Object: a2}},
		"deletion":  {func(h cache.ResourceEventHandler) { h.OnDelete(a2) }, index.Change[*corev1.Pod]{Delete: true, Object: a2}},
		"tombstone": {func(h cache.ResourceEventHandler) { h.OnDelete(cache.DeletedFinalStateUnknown{Obj: a2}) }, index.Change[*corev1.Pod]{Delete: true, Reason: index.Relisted, Object: a2}},
	} {
		cell(name, func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
			begin(stub, end)
			stub.send(call.send)
			synctest.Wait()
			reports, _ := end.Take()
			require.Len(t, reports, 1)
			assert.Equal(t, []index.Change[*corev1.Pod]{call.want}, reports[0].Changes)
		})
	}
	cell("bookmark", func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
		begin(stub, end)
		stub.put("9")
		time.Sleep(time.Minute)
		synctest.Wait()
		reports, _ := end.Take()
		require.NotEmpty(t, reports)
		assert.Equal(t, "9", reports[len(reports)-1].Version)
	})
	cell("rejected", func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
		stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(&corev1.Node{}, true) })
		reports := begin(stub, end)
		list := reports[len(reports)-1].List
		require.Len(t, list.Items, 2, "what is rejected is in the list")
		_, is := source.Rejected(list.Items[1])
		assert.True(t, is)
	})
	cell("needs", func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
		end.Needs = []string{"metadata.labels"}
		stub.send(func(h cache.ResourceEventHandler) {
			assert.Equal(t, end.Needs, h.(interface{ Needs() []string }).Needs())
		})
	})
	cell("order", func(t *testing.T, stub *sharedStub, end *sinktest.Recorder[*corev1.Pod]) {
		begin(stub, end)
		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(a1, a2); h.OnDelete(a2); h.OnAdd(b, false) })
		synctest.Wait()
		reports, _ := end.Take()
		require.Len(t, reports, 3)
		for n, want := range []index.Change[*corev1.Pod]{{Object: a2}, {Delete: true, Object: a2}, {Object: b}} {
			assert.Equal(t, []index.Change[*corev1.Pod]{want}, reports[n].Changes)
		}
	})
	t.Run("modifies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stub, end := newSharedStub(), &sinktest.Recorder[*corev1.Pod]{Modifies: true}
			sharedRun(t, func(ctx context.Context) error { return adapters.FromShared[*corev1.Pod](stub).Run(ctx, end) }, nil)
			synctest.Wait()
			list := begin(stub, end)[1].List
			stub.send(func(h cache.ResourceEventHandler) { h.OnAdd(b, false) })
			synctest.Wait()
			reports, _ := end.Take()
			require.Len(t, reports, 1)
			got := reports[0].Changes[0].Object
			assert.Equal(t, b, got)
			assert.NotSame(t, b, got, "it is a copy")
			objs, _, _ := source.Kept[*corev1.Pod](list.Items)
			require.Len(t, objs, 1)
			assert.NotSame(t, a1, objs[0], "in lists, too")
		})
	})
}
