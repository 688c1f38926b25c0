package peers

import (
	"iter"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
)

// peer is one of those that are compared: a way to make a cache of Pods, with
// indexes by node and by the label app.
type peer struct {
	impl string
	// start starts a cache on a feed, which is asked for its list, and answers.
	// It returns when the cache has it, and the handlers have been called for all
	// of it.
	start func(tb testing.TB, from *source, handlers ...calls) podCache
	// latest is whether handlers are told of the latest state of a Pod only, when
	// there have been several changes since they were last called.
	latest bool
}

var (
	typedPeer             = peer{impl: "typed", start: startTyped}
	controllerRuntimePeer = peer{impl: "controller-runtime", start: startControllerRuntime}
	copiesPeer            = peer{impl: "controller-runtime-copies", start: startCopies}
	krtPeer               = peer{impl: "krt", start: startKRT}
	statedbPeer           = peer{impl: "statedb", start: startStateDB, latest: true}

	// eventPeers are told of events in a different way each: copies are made of
	// what is read only.
	eventPeers = []peer{typedPeer, krtPeer, statedbPeer, controllerRuntimePeer}
	readPeers  = []peer{typedPeer, controllerRuntimePeer, copiesPeer, krtPeer, statedbPeer}
)

// podCache is what the caches have in common. What it returns is what users of
// each get, without a conversion.
type podCache interface {
	// get returns the Pod of a key, in the form of which there are both.
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

// calls is what a handler does; nil means nothing.
type calls struct {
	add func(pod *corev1.Pod)
	// update is called for an update that came after merged others of the same
	// or of other Pods, of which the handler is not told, as they are of no
	// consequence any more.
	update func(pod *corev1.Pod, merged int)
}

// podKey is a key in the form of a struct and of a string.
type podKey struct {
	index.Key
	joined string
}

// found is a list of Pods as some caches return it or as others do.
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
