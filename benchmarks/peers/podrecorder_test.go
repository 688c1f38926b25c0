package peers

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
)

// podRecorder is a handler that records its events.
type podRecorder struct {
	mu      sync.Mutex
	changed sync.Cond
	added   int
	updates int // with those that were merged
	told    []*corev1.Pod
	known   map[index.Key]string
	cache   podCache // is read in each update
	early   int      // updates that had not reached the cache
}

func newPodRecorder() *podRecorder {
	r := &podRecorder{known: map[index.Key]string{}}
	r.changed.L = &r.mu
	return r
}

func (r *podRecorder) calls() calls {
	return calls{
		add: func(pod *corev1.Pod) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.added++
			maps.Copy(r.known, versionsOf([]*corev1.Pod{pod}))
		},
		update: func(pod *corev1.Pod, merged int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			key := keysOf([]*corev1.Pod{pod})[0]
			if held, ok := r.cache.get(key); !ok || held.ResourceVersion < pod.ResourceVersion {
				r.early++
			}
			r.updates += 1 + merged
			r.told = append(r.told, pod)
			maps.Copy(r.known, versionsOf([]*corev1.Pod{pod}))
			r.changed.Signal()
		},
	}
}

// wait waits for the n-th update.
func (r *podRecorder) wait(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.updates < n {
		r.changed.Wait()
	}
}
