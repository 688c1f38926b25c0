package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// The files contract_*_test.go are the contract of [cache.SharedIndexInformer]: what client-go
// v0.37 documents and does, as tests that know no implementation. Programs may depend on each quirk
// that a test names.

// eachImplementation runs a test for each implementation, each in its own bubble: time advances
// only while all goroutines wait, and the bubble ends only when all goroutines of the test have
// ended.
func eachImplementation(t *testing.T, test func(t *testing.T, impl implementation)) {
	t.Helper()
	for _, impl := range implementations {
		if impl.name == packed && !packs(t) {
			continue
		}
		t.Run("impl="+impl.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, impl) })
		})
	}
}

// newPods makes an informer of Pods.
type newPods func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// eachInformer is eachImplementation for tests of Pods, which run on the typed
// informers of an implementation as well.
func eachInformer(t *testing.T, test func(t *testing.T, pods newPods)) {
	t.Helper()
	for _, impl := range implementations {
		forms := []struct {
			name string
			pods newPods
		}{
			{"form=any", func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
				return impl.withOptions(lw, &corev1.Pod{}, options)
			}},
			{"form=T", func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
				return impl.typedPods(lw, options)
			}},
		}
		for _, form := range forms {
			if impl.name == packed && (form.name == "form=T" || !packs(t)) {
				continue // it is for objects of any type
			}
			t.Run("impl="+impl.name+"/"+form.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(t, form.pods) })
			})
		}
	}
}

// survivePanics makes the process report panics and survive them, as programs may choose.
func survivePanics(t *testing.T) {
	utilruntime.ReallyCrash = false
	t.Cleanup(func() { utilruntime.ReallyCrash = true })
}

// rig is an informer of Pods over a script.
type rig struct {
	cache.SharedIndexInformer
	t      *testing.T
	script *script
	stop   context.CancelFunc
	ended  chan struct{}
}

func newRig(t *testing.T, pods newPods) *rig {
	return newRigWith(t, pods, cache.SharedIndexInformerOptions{})
}

func newRigWith(t *testing.T, pods newPods, options cache.SharedIndexInformerOptions) *rig {
	if options.Indexers == nil {
		options.Indexers = cache.Indexers{}
	}
	s := &script{}
	s.lists("10")
	return &rig{SharedIndexInformer: pods(s, options), t: t, script: s}
}

// run starts the informer, and stops it when the test ends.
func (r *rig) run() {
	r.stop, r.ended = start(r.t, r.SharedIndexInformer)
	synctest.Wait()
}

// halt stops the informer and returns when Run has.
func (r *rig) halt() {
	r.stop()
	<-r.ended
}

// start runs an informer until stop is called, at the latest at the end of the test.
func start(t *testing.T, inf cache.SharedIndexInformer) (stop context.CancelFunc, ended chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		inf.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return cancel, ended
}

// send sends watch events and returns when all has been done about them.
func (r *rig) send(events ...event) {
	r.t.Helper()
	r.script.send(r.t, events...)
	synctest.Wait()
}

// relist makes the informer list again: the server reports that the version is gone.
func (r *rig) relist(version string, pods ...*corev1.Pod) {
	r.t.Helper()
	before := len(r.script.listCalls())
	r.script.lists(version, pods...)
	r.send(expired())
	r.script.awaitLists(before + 1)
}

// handle adds a recorder.
func (r *rig) handle() *recorder {
	return r.handleWith(cache.HandlerOptions{})
}

func (r *rig) handleWith(options cache.HandlerOptions) *recorder {
	rec := &recorder{}
	handle, err := r.AddEventHandlerWithOptions(rec, options)
	require.NoError(r.t, err)
	rec.handle = handle
	return rec
}
