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
func BenchmarkViewInitial(b *testing.B) { views.Initial(b, views.Sides...) }

func BenchmarkViewPodChange(b *testing.B) { views.PodChange(b, views.Sides...) }

func BenchmarkViewSelectorChange(b *testing.B) { views.SelectorChange(b, views.Sides...) }

func BenchmarkViewNodeChange(b *testing.B) { views.NodeChange(b, views.Sides...) }

func BenchmarkViewPolicies(b *testing.B) { views.Policies(b, views.Sides...) }
