package peers

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
)

// podCache is the common interface of the caches. It returns the types that users of each get,
// without a conversion.
type podCache interface {
	// get returns the Pod of a key, false if there is none. Each cache takes the
	// form of the key that it has use for.
	get(key podKey) (*corev1.Pod, bool)
	byApp(app string) found
	byNode(node string) found
	inNamespace(namespace string) found
	all() found
	// stop ends the cache and waits for it.
	stop()
}

// rangingCache is a cache that can be ranged over without a slice.
type rangingCache interface {
	podCache
	rangeByApp(app string) int
	rangeAll() int
}

// podKey is a key in the form of a struct and of a string.
type podKey struct {
	index.Key
	joined string
}

// found is what a list has found: pointers to Pods, or Pods, as the cache returns
// them.
type found struct {
	pods   []*corev1.Pod
	values []corev1.Pod
}

func (f found) len() int { return len(f.pods) + len(f.values) }

// each ranges over the Pods in either form.
func (f found) each() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for i := range f.values {
			if !yield(&f.values[i]) {
				return
			}
		}
		slices.Values(f.pods)(yield)
	}
}
