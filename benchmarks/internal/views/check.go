package views

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// Check shows on a small cluster that sides compute what computing it from scratch gives,
// at first and after changes.
func Check(t *testing.T, sides ...Side) {
	w := NewWorld(1000, 5, 60)
	for _, s := range sides {
		t.Run(s.Impl+"/endpoints", func(t *testing.T) {
			check(t, s.Endpoints(w.Services, w.Pods), w.Services, w.Pods, w.ServiceChanges(20)[:30], w.PodChanges(100)[:150], scanEndpoints)
		})
		t.Run(s.Impl+"/placements", func(t *testing.T) {
			check(t, s.Placements(w.Pods, w.Nodes), w.Pods, w.Nodes, w.PodChanges(20)[:30], w.NodeChanges(100)[:150], scanPlacements)
		})
		t.Run(s.Impl+"/policies", func(t *testing.T) {
			check(t, s.Applied(w.Pods, w.Policies), w.Pods, w.Policies, w.AllPodChanges()[:1500], w.PolicyChanges()[:90], scanApplied)
		})
	}
}

// check compares what was computed with scan, once it says the same, which it has to in
// the end.
func check[L, R index.Object, Out Result[Out]](
	t *testing.T, r Running[L, R, Out], left []L, right []R, leftChanges []L, rightChanges []R, scan func(left []L, right []R) []Out,
) {
	defer r.Stop()
	news := make(chan struct{}, 1)
	r.Compute(func(_, _ Out) {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	settled := func() {
		want := scan(left, right)
		for !slices.EqualFunc(want, Sorted(r.All()), Out.Equal) {
			select {
			case <-news:
			case <-t.Context().Done():
				require.Fail(t, "did not settle")
			}
		}
		assert.NotEmpty(t, want)
	}
	settled()
	for _, obj := range leftChanges {
		r.PutLeft(obj)
	}
	for _, obj := range rightChanges {
		r.PutRight(obj)
	}
	left, right = latest(left, leftChanges), latest(right, rightChanges)
	settled()
}

// latest returns the last states of objects.
func latest[T index.Object](objects, changes []T) []T {
	by := map[index.Key]T{}
	for _, obj := range slices.Concat(objects, changes) {
		by[index.KeyOf(obj)] = obj
	}
	return slices.Collect(maps.Values(by))
}
