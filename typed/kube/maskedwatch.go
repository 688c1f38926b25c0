package kube

import (
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// maskedWatch is a watch of whose objects fields are left out. Unlike apimachinery's
// watch.Filter, it ends when it is stopped while nobody takes an event.
type maskedWatch struct {
	watch.Interface
	mask    *plan.Mask
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

// ResultChan implements watch.Interface.
func (w *maskedWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *maskedWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.Interface.Stop()
}

func (w *maskedWatch) run() {
	defer utilruntime.HandleCrash()
	defer close(w.events)
	for e := range w.Interface.ResultChan() {
		if e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted {
			w.mask.Apply(e.Object)
		}
		select {
		case w.events <- e:
		case <-w.stopped:
			return
		}
	}
}
