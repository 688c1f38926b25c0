package benchmarks

import (
	"testing"

	"github.com/kubetyped/informer/benchmarks/internal/views"
)

// The benchmarks of views compute collections from others, with package typed/view on informers
// (typed) and on sets that the program changes (typed-set), and with client-go's informers,
// handlers and a work queue (by-hand). All get the same objects and changes, and make the same
// results with the same functions; see views.Check. The module peers has the same benchmarks
// with krt.
var viewSides = []views.Side{views.Typed(), views.ByHand(), views.TypedSet()}

func BenchmarkViewInitial(b *testing.B) { views.Initial(b, viewSides...) }

func BenchmarkViewPodChange(b *testing.B) { views.PodChange(b, viewSides...) }

func BenchmarkViewSelectorChange(b *testing.B) { views.SelectorChange(b, viewSides...) }

func BenchmarkViewNodeChange(b *testing.B) { views.NodeChange(b, viewSides...) }

func BenchmarkViewPolicies(b *testing.B) { views.Policies(b, viewSides...) }
