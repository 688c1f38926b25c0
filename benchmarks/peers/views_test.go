package peers

import (
	"testing"

	"github.com/kubetyped/informer/benchmarks/internal/views"
)

// viewSides are those of the benchmarks of views against client-go, and krt: as istio would use
// it for Services, and with an index that fits the Services there are.
var viewSides = []views.Side{views.Typed(), krtViews("krt", false), krtViews("krt-by-app", true), views.ByHand(), views.TypedSet()}

func TestViewsGiveTheSame(t *testing.T) { views.Check(t, viewSides...) }

func BenchmarkPeerViewInitial(b *testing.B) { views.Initial(b, viewSides...) }

func BenchmarkPeerViewPodChange(b *testing.B) { views.PodChange(b, viewSides...) }

func BenchmarkPeerViewSelectorChange(b *testing.B) { views.SelectorChange(b, viewSides...) }

func BenchmarkPeerViewNodeChange(b *testing.B) {
	views.NodeChange(b, viewSides[0], viewSides[1], viewSides[3], viewSides[4])
}

func BenchmarkPeerViewPolicies(b *testing.B) {
	views.Policies(b, viewSides[0], viewSides[1], viewSides[3], viewSides[4])
}
