package adapters_test

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// sharedStub is a shared informer whose other side is the test. Itself, it only keeps handlers, and
// calls a new one for each object of its store.
type sharedStub struct {
	cache.SharedIndexInformer // nil: nothing else is called
	store                     cache.Indexer
	ended                     chan struct{} // if not nil, registrations report when a handler has ended
	synced                    chan struct{}

	mu       sync.Mutex
	handlers []cache.ResourceEventHandler
	options  []cache.HandlerOptions
	added    int
	stopped  bool
	err      error // of the methods that return one
}

func newSharedStub() *sharedStub {
	return &sharedStub{
		store:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		synced: make(chan struct{}),
	}
}

// send calls the handlers.
func (s *sharedStub) send(call func(cache.ResourceEventHandler)) {
	s.mu.Lock()
	handlers := slices.Clone(s.handlers)
	s.mu.Unlock()
	for _, h := range handlers {
		call(h)
	}
}

func (s *sharedStub) put(version string, pods ...*corev1.Pod) {
	for _, pod := range pods {
		_ = s.store.Add(pod)
	}
	s.store.Bookmark(version)
}

func (s *sharedStub) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

type sharedStubHandle struct {
	cache.DoneChecker
	handler cache.ResourceEventHandler
}

func (h *sharedStubHandle) HasSynced() bool                     { return cache.IsDone(h) }
func (h *sharedStubHandle) HasSyncedChecker() cache.DoneChecker { return h }

func (h *sharedStubHandle) of() cache.ResourceEventHandler { return h.handler }

// sharedStubEnding reports when the handler has ended.
type sharedStubEnding struct {
	*sharedStubHandle
	ended chan struct{}
}

func (h *sharedStubEnding) ShutdownChan() <-chan struct{} { return h.ended }

type sharedStubChecker chan struct{}

func (c sharedStubChecker) Name() string          { return "stub" }
func (c sharedStubChecker) Done() <-chan struct{} { return c }

func (s *sharedStub) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.handlers = append(s.handlers, h)
	s.options = append(s.options, o)
	s.added++
	for _, obj := range s.store.List() {
		h.OnAdd(obj, true)
	}
	handle := &sharedStubHandle{sharedStubChecker(s.synced), h}
	if s.ended != nil {
		return &sharedStubEnding{handle, s.ended}, nil
	}
	return handle, nil
}

func (s *sharedStub) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = slices.DeleteFunc(s.handlers, func(h cache.ResourceEventHandler) bool {
		return h == handle.(interface {
			of() cache.ResourceEventHandler
		}).of()
	})
	return s.err
}

func (s *sharedStub) GetStore() cache.Store     { return s.store }
func (s *sharedStub) GetIndexer() cache.Indexer { return s.store }

func (s *sharedStub) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}
