package adapters_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// sharedServer is a cache.ListerWatcher over Pods that the test writes. It logs nothing: a test
// reads the informers.
type sharedServer struct {
	mu      sync.Mutex
	pods    map[string]*corev1.Pod // guarded by mu
	version int                    // guarded by mu
	events  []watch.Event          // guarded by mu; one for each version
	watches []*watch.FakeWatcher   // guarded by mu
	silent  bool                   // guarded by mu: watches receive no writes
	lists   chan struct{}          // receives a value for each list
}

func newSharedServer(names ...string) *sharedServer {
	s := &sharedServer{pods: map[string]*corev1.Pod{}, lists: make(chan struct{}, 100)}
	for _, name := range names {
		s.write(name)
	}
	return s
}

func sharedPod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: strconv.Itoa(version)}}
}

// record sends the event of a version to all watches, including later ones. The caller holds mu.
func (s *sharedServer) record(e watch.Event) {
	s.events = append(s.events, e)
	s.send(e)
}

// send sends an event to the watches. The caller holds mu.
func (s *sharedServer) send(e watch.Event) {
	for _, w := range s.watches {
		if !s.silent && !w.IsStopped() {
			w.Action(e.Type, e.Object)
		}
	}
}

// write adds or updates a Pod, and returns its version.
func (s *sharedServer) write(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	kind := watch.Added
	if s.pods[name] != nil {
		kind = watch.Modified
	}
	s.pods[name] = sharedPod(name, s.version)
	s.record(watch.Event{Type: kind, Object: s.pods[name]})
	return strconv.Itoa(s.version)
}

func (s *sharedServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	delete(s.pods, name)
	s.record(watch.Event{Type: watch.Deleted, Object: sharedPod(name, s.version)})
}

// bookmark sends the current version, one later than the last write, to the watches.
func (s *sharedServer) bookmark() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.record(watch.Event{Type: watch.Bookmark, Object: sharedPod("", s.version)})
	return strconv.Itoa(s.version)
}

// relist makes informers list again, after some writes that their watches do not receive.
func (s *sharedServer) relist(unwatched func()) {
	s.mu.Lock()
	s.silent = true
	s.mu.Unlock()
	unwatched()
	s.mu.Lock()
	s.silent = false
	status := apierrors.NewResourceExpired("too old").Status()
	s.send(watch.Event{Type: watch.Error, Object: &status})
	for len(s.lists) > 0 {
		<-s.lists
	}
	s.mu.Unlock()
	<-s.lists
	synctest.Wait()
}

func (s *sharedServer) List(metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, pod := range s.pods {
		list.Items = append(list.Items, *pod.DeepCopy())
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return -len(a.Name) + len(b.Name) })
	s.lists <- struct{}{}
	return list, nil
}

func (s *sharedServer) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10_000})
	after, err := strconv.Atoi(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	for _, e := range s.events[after:] {
		w.Action(e.Type, e.Object)
	}
	s.watches = append(s.watches, w)
	return w, nil
}

// IsWatchListSemanticsUnSupported makes Reflectors list without streaming.
func (s *sharedServer) IsWatchListSemanticsUnSupported() bool { return true }

// sharedRig is a server, a shared informer of it, and a typed informer over that.
type sharedRig struct {
	*sharedServer
	t        *testing.T
	shared   cache.SharedIndexInformer
	typed    *typed.Informer[*corev1.Pod]
	received *history.History[*corev1.Pod]
	calls    *sharedCalls
}

// sharedImplementations are the shared informers that sources are tested on.
var sharedImplementations = map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
	"client-go": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	},
	"adapters": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	},
}

// onShared runs a test on each implementation of shared informers, in a bubble.
func onShared(t *testing.T, test func(t *testing.T, newRig func(names ...string) *sharedRig)) {
	for name, newInformer := range sharedImplementations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, func(names ...string) *sharedRig { return newSharedRig(t, newInformer, names...) })
			})
		})
	}
}

func newSharedRig(t *testing.T, newInformer func(cache.ListerWatcher) cache.SharedIndexInformer, names ...string) *sharedRig {
	s := newSharedServer(names...)
	shared := newInformer(s)
	r := &sharedRig{sharedServer: s, t: t, shared: shared, received: history.New[*corev1.Pod](), calls: &sharedCalls{}}
	r.typed = typed.NewInformer(adapters.FromShared[*corev1.Pod](shared))
	for _, handler := range []typed.Handler[*corev1.Pod]{sharedLenient{r.received}, r.calls} {
		_, err := r.typed.Handle(handler)
		require.NoError(t, err)
	}
	return r
}

// sharedLenient is a history that takes every deletion for one that a relist found: a shared
// informer does not report which of them are.
type sharedLenient struct{ *history.History[*corev1.Pod] }

func (h sharedLenient) OnDelete(d typed.Deleted[*corev1.Pod]) {
	d.Reason = index.Relisted
	h.History.OnDelete(d)
}

// startShared runs the shared informer until stop is called, or the test ends.
func (r *sharedRig) startShared() (stop func()) {
	return sharedRun(r.t, func(ctx context.Context) error {
		r.shared.RunWithContext(ctx)
		return nil
	}, nil)
}

// startTyped does the same for the typed informer, and returns what Run will.
func (r *sharedRig) startTyped() (stop func(), result chan error) {
	result = make(chan error, 1)
	return sharedRun(r.t, r.typed.Run, result), result
}

// sharedRun runs something until stop is called, or the test ends.
func sharedRun(t *testing.T, run func(context.Context) error, result chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := run(ctx); result != nil {
			result <- err
		}
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// requireSame checks that both informers and the events of the handlers end with the server's
// objects, by pointer, and that no error was reported before.
func (r *sharedRig) requireSame() {
	r.t.Helper()
	synctest.Wait()
	require.NoError(r.t, r.received.Err())
	r.mu.Lock()
	want := make([]*corev1.Pod, 0, len(r.pods))
	for _, pod := range r.pods {
		want = append(want, pod)
	}
	r.mu.Unlock()
	require.Empty(r.t, history.Diff("server", want, "informer", r.typed.List()))
	require.Empty(r.t, history.Diff("server", want, "handler", r.received.Objects()))
	for _, untyped := range r.shared.GetStore().List() {
		pod := untyped.(*corev1.Pod)
		held, ok := r.typed.Get(index.KeyOf(pod))
		require.True(r.t, ok)
		require.Same(r.t, pod, held)
	}
}

// sharedCalls is a handler that writes down its calls.
type sharedCalls struct {
	mu    sync.Mutex
	calls []string
	hook  func()
}

func (c *sharedCalls) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hook != nil {
		c.hook()
	}
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
}

// next returns the calls since the last time, once everything has come to rest.
func (c *sharedCalls) next() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *sharedCalls) OnAdd(obj *corev1.Pod, initial bool) {
	if initial {
		c.add("initial %s@%s", obj.Name, obj.ResourceVersion)
	} else {
		c.add("add %s@%s", obj.Name, obj.ResourceVersion)
	}
}

func (c *sharedCalls) OnUpdate(old, updated *corev1.Pod) {
	c.add("update %s@%s@%s", updated.Name, old.ResourceVersion, updated.ResourceVersion)
}

func (c *sharedCalls) OnDelete(d typed.Deleted[*corev1.Pod]) {
	c.add("delete %s@%s %v", d.Key.Name, d.Object.ResourceVersion, d.Reason)
}

// sharedMoment is longer than a source needs to see that nothing comes any more.
const sharedMoment = 25 * time.Millisecond
