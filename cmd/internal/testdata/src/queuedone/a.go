package queuedone

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

type worker struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (w *worker) never() bool {
	key, shutdown := w.queue.Get() // want `Done is not called`
	if shutdown {
		return false
	}
	fmt.Println(key)
	return true
}

func (w *worker) early() bool {
	key, shutdown := w.queue.Get() // want `Done is not called`
	if shutdown {
		return false
	}
	if _, _, err := cache.SplitMetaNamespaceKey(key); err != nil {
		return true
	}
	w.queue.Done(key)
	return true
}

func (w *worker) deferred() bool {
	key, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(key)
	if _, _, err := cache.SplitMetaNamespaceKey(key); err != nil {
		return true
	}
	return true
}

func (w *worker) inner() bool {
	key, shutdown := w.queue.Get()
	if !shutdown {
		defer func() { w.queue.Done(key) }()
		fmt.Println(key)
	}
	return !shutdown
}

func (w *worker) passedOn() bool {
	key, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	w.work(key)
	return true
}

func (w *worker) work(key string) { w.queue.Done(key) }

func (w *worker) loop() {
	for {
		key, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		fmt.Println(key)
		w.queue.Done(key)
	}
}

type anyWorker struct {
	queue workqueue.RateLimitingInterface
}

func (w *anyWorker) asserted() bool {
	obj, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	key, ok := obj.(string)
	if !ok {
		return true
	}
	w.done(key)
	return true
}

func (w *anyWorker) done(key any) { w.queue.Done(key) }

func (w *anyWorker) lost() bool {
	obj, shutdown := w.queue.Get() // want `Done is not called`
	if shutdown {
		return false
	}
	key, ok := obj.(string)
	if !ok {
		return true
	}
	fmt.Println(key)
	w.queue.Done(obj)
	return true
}

func (w *worker) returned() (string, bool) {
	key, shutdown := w.queue.Get()
	if shutdown {
		return "", false
	}
	return key, true
}

func (w *worker) sent(to chan struct{ key string }) {
	for {
		key, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		to <- struct{ key string }{key}
	}
}

func (w *anyWorker) narrowed() bool {
	obj, shutdown := w.queue.Get() // want `Done is not called`
	if shutdown {
		return false
	}
	text, ok := obj.(fmt.Stringer)
	if !ok {
		return true
	}
	obj, _ = text.(any)
	w.queue.Done(obj)
	return true
}

func (w *worker) compared() {
	key, shutdown := w.queue.Get()
	if shutdown == true {
		return
	}
	w.queue.Done(key)
}

func (w *worker) comparedWithFalse() bool {
	key, shutdown := w.queue.Get()
	if false == shutdown {
		w.queue.Done(key)
		return true
	}
	return false
}

func (w *worker) comparedNot() {
	key, shutdown := w.queue.Get()
	if (shutdown != true) && key != "" {
		w.queue.Done(key)
		return
	} else if !(shutdown != false) {
		w.queue.Done(key)
	}
}

func (w *worker) comparedWrongly() {
	key, shutdown := w.queue.Get() // want `Done is not called`
	if shutdown == false {
		return
	}
	w.queue.Done(key)
}
