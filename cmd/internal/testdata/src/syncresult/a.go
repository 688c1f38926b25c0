package syncresult

import "k8s.io/client-go/tools/cache"

type factory interface {
	WaitForCacheSync(stop <-chan struct{}) map[string]bool
}

func run(stop chan struct{}, f factory, informer cache.SharedIndexInformer) bool {
	cache.WaitForCacheSync(stop, informer.HasSynced)              // want `the result of WaitForCacheSync is not used`
	cache.WaitForNamedCacheSync("pods", stop, informer.HasSynced) // want `the result of WaitForNamedCacheSync is not used`
	f.WaitForCacheSync(stop)
	_ = cache.WaitForCacheSync(stop, informer.HasSynced)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		return false
	}
	return cache.WaitForCacheSync(stop, informer.HasSynced)
}

func start(stop chan struct{}, informer cache.SharedIndexInformer) {
	go func() {
		cache.WaitForCacheSync(stop, informer.HasSynced) // want `the result of WaitForCacheSync is not used`
	}()
	cache.WaitForCacheSync(stop, informer.HasSynced) // want `the result of WaitForCacheSync is not used`
}

// header waits where a statement cannot replace the call.
func header(stop chan struct{}, informer cache.SharedIndexInformer) {
	if cache.WaitForCacheSync(stop, informer.HasSynced); informer.HasSynced() { // want `the result of WaitForCacheSync is not used`
		return
	}
	switch {
	default:
		cache.WaitForCacheSync(stop, informer.HasSynced) // want `the result of WaitForCacheSync is not used`
	}
}
