package adapters_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// inquiry is a call of a method.
type inquiry struct {
	name string
	call func()
}

// inquiries are the calls that wait for nothing that the informer does, however
// long that takes: they may come from anywhere.
func inquiries(inf cache.SharedIndexInformer, handle cache.ResourceEventHandlerRegistration) []inquiry {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return []inquiry{
		{"IsStopped", func() { inf.IsStopped() }},
		{"HasStarted", func() { inf.(interface{ HasStarted() bool }).HasStarted() }},
		{"HasSynced", func() { inf.HasSynced() }},
		{"HasSyncedChecker", func() { cache.IsDone(inf.HasSyncedChecker()) }},
		{"LastSyncResourceVersion", func() { inf.LastSyncResourceVersion() }},
		{"Controller.HasSynced", func() { inf.GetController().HasSynced() }},
		{"Controller.LastSyncResourceVersion", func() { inf.GetController().LastSyncResourceVersion() }},
		{"GetStore", func() { inf.GetStore() }},
		{"GetIndexers", func() { inf.GetIndexer().GetIndexers() }},
		{"Resync", func() { _ = inf.GetIndexer().Resync() }},
		{"SetTransform", func() { _ = inf.SetTransform(nil) }},
		{"SetWatchErrorHandler", func() { _ = inf.SetWatchErrorHandler(nil) }},
		{"Run", func() { inf.RunWithContext(ended) }},
		{"Registration.HasSynced", func() { handle.HasSynced() }},
		{"Registration.HasSyncedChecker", func() { cache.IsDone(handle.HasSyncedChecker()) }},
	}
}

// uses are the other calls, which wait while a batch is stored.
func uses(inf cache.SharedIndexInformer) []inquiry {
	store := inf.GetIndexer()
	return []inquiry{
		{"List", func() { store.List() }},
		{"ListKeys", func() { store.ListKeys() }},
		{"GetByKey", func() { _, _, _ = store.GetByKey("ns/a") }},
		{"Get", func() { _, _, _ = store.Get(pod("a", "")) }},
		{"ByIndex", func() { _, _ = store.ByIndex("hook", "x") }},
		{"Index", func() { _, _ = store.Index(cache.NamespaceIndex, pod("a", "")) }},
		{"IndexKeys", func() { _, _ = store.IndexKeys("hook", "x") }},
		{"ListIndexFuncValues", func() { store.ListIndexFuncValues("hook") }},
		{"LastStoreSyncResourceVersion", func() { store.LastStoreSyncResourceVersion() }},
		{"Add", func() { _ = store.Add(podIn("mine", "z", "1")) }},
		{"Delete", func() { _ = store.Delete(podIn("mine", "z", "1")) }},
		{"Bookmark", func() { store.Bookmark("10") }},
		{"AddIndexers", func() { _ = inf.AddIndexers(cache.Indexers{time.Now().String(): cache.MetaNamespaceIndexFunc}) }},
		{"AddEventHandler", func() {
			handle, err := inf.AddEventHandler(&cache.ResourceEventHandlerFuncs{})
			if err == nil {
				_ = inf.RemoveEventHandler(handle)
			}
		}},
	}
}

// places are where a program has its code called, in which it may call the
// informer again. From all of them but the first, any method can be called.
type places struct {
	index, transform, handler, log func()
}

// hooked is a running informer that calls the code of a place once, at the first
// list or at the event that comes after.
type hooked struct {
	cache.SharedIndexInformer
	handle cache.ResourceEventHandlerRegistration
	script *script
	waited []string // calls that did not return
}

// tooLong is for calls that never return.
const tooLong = 30 * time.Second

// makeAll makes calls, each in its own goroutine, and notes those that do not return until it does.
func (h *hooked) makeAll(calls []inquiry) {
	var mu sync.Mutex
	var made sync.WaitGroup
	late := map[string]bool{}
	for _, c := range calls {
		late[c.name] = true
	}
	for _, c := range calls {
		made.Go(func() {
			c.call()
			mu.Lock()
			defer mu.Unlock()
			delete(late, c.name)
		})
	}
	done := make(chan struct{})
	go func() { made.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(tooLong):
	}
	mu.Lock()
	defer mu.Unlock()
	for name := range late {
		h.waited = append(h.waited, name)
	}
	slices.Sort(h.waited)
}

// callsFrom returns the calls that did not return while the code of a place
// waited for them.
func callsFrom(t *testing.T, impl implementation, place func(h *hooked, at *places)) []string {
	h := &hooked{script: &script{}}
	h.script.lists("10", pod("a", "1"))
	var at places
	run := func(code *func()) {
		if *code != nil {
			(*code)()
		}
	}
	h.SharedIndexInformer = impl.simple(h.script, &corev1.Pod{}, 0, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"hook":               func(obj any) ([]string, error) { run(&at.index); return []string{"x"}, nil },
	})
	require.NoError(t, h.SetTransform(func(obj any) (any, error) { run(&at.transform); return obj, nil }))
	handle, err := h.AddEventHandler(&cache.ResourceEventHandlerFuncs{AddFunc: func(any) { run(&at.handler) }})
	require.NoError(t, err)
	h.handle = handle
	place(h, &at)

	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.New(logSink{func() { run(&at.log) }})))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.RunWithContext(ctx)
	}()
	assert.True(t, cache.WaitForCacheSync(ctx.Done(), handle.HasSynced))
	cancel()
	<-ended
	return h.waited
}

// A call that only reads the informer's state returns at once wherever it is made, even in an index
// function, while the initial list is being stored.
func TestContractInquiriesDoNotWait(t *testing.T) {
	for _, impl := range implementations {
		if impl.name == packed {
			continue // it refuses transforms
		}
		t.Run("impl="+impl.name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			inquire := func(h *hooked) func() {
				return func() { once.Do(func() { h.makeAll(inquiries(h.SharedIndexInformer, h.handle)) }) }
			}
			assert.Empty(t, callsFrom(t, impl, func(h *hooked, at *places) { at.index = inquire(h) }), "index function")
		})
	}
}

// Any method can be called from a transform, a handler, or a log's sink.
func TestContractCallsFromCallbacks(t *testing.T) {
	for _, impl := range implementations {
		if impl.name == packed {
			continue // it refuses transforms
		}
		t.Run("impl="+impl.name, func(t *testing.T) {
			t.Parallel()
			for name, place := range map[string]func(*places, func()){
				"transform": func(at *places, code func()) { at.transform = code },
				"handler":   func(at *places, code func()) { at.handler = code },
				"log":       func(at *places, code func()) { at.log = code },
			} {
				var once sync.Once
				waited := callsFrom(t, impl, func(h *hooked, at *places) {
					place(at, func() {
						once.Do(func() { h.makeAll(append(inquiries(h.SharedIndexInformer, h.handle), uses(h.SharedIndexInformer)...)) })
					})
				})
				assert.Empty(t, waited, name)
			}
		})
	}
}

// logSink calls a function for each line.
type logSink struct{ line func() }

func (logSink) Init(klog.RuntimeInfo)            {}
func (logSink) Enabled(int) bool                 { return true }
func (s logSink) Info(int, string, ...any)       { s.line() }
func (s logSink) Error(error, string, ...any)    { s.line() }
func (s logSink) WithValues(...any) klog.LogSink { return s }
func (s logSink) WithName(string) klog.LogSink   { return s }
