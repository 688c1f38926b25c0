package peers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// peer is one of those that are compared: a way to make a cache of Pods, with
// indexes by node and by the label app.
type peer struct {
	impl string
	// start starts a cache that lists and watches from. It returns when the cache
	// has the list, and the handlers have been called for all of it.
	start func(tb testing.TB, from *source, handlers ...calls) podCache
	// latest is whether a handler receives the latest state of a Pod only, when there have been
	// several updates since it was last called.
	latest bool
}

var (
	typedPeer             = peer{impl: "typed", start: startTyped}
	controllerRuntimePeer = peer{impl: "controller-runtime", start: startControllerRuntime}
	copiesPeer            = peer{impl: "controller-runtime-copies", start: startCopies}
	krtPeer               = peer{impl: "krt", start: startKRT}
	statedbPeer           = peer{impl: "statedb", start: startStateDB, latest: true}

	readPeers = []peer{typedPeer, controllerRuntimePeer, copiesPeer, krtPeer, statedbPeer}
	// eventPeers leave out the one that differs in reads only.
	eventPeers = []peer{typedPeer, controllerRuntimePeer, krtPeer, statedbPeer}
)

// calls is what a handler does; nil means nothing.
type calls struct {
	add func(pod *corev1.Pod)
	// update is called with the new state. The handler does not receive merged updates before
	// it, whose Pods have changed again since.
	update func(pod *corev1.Pod, merged int)
}
