package benchmarks

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
)

// BenchmarkDropInMethods measures every method of cache.SharedIndexInformer, of
// the cache.Indexer that it returns, of its registrations and of a generated
// lister, on a running informer that has synced and has three indexes, by
// namespace, node and application. An operation is one call; where that changes
// something it is the call and another that takes it back, and for AddIndexers the
// making of a store that has none.
//
// Adding a handler is done when it was called for every object. ListerList is client-go's own
// appending on both sides, except the list that it begins with.
func BenchmarkDropInMethods(b *testing.B) {
	for _, objects := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			var running []*dropIn
			for _, s := range dropInShared {
				d := newDropIn(b, s, objects)
				defer d.stop()
				running = append(running, d)
			}
			for _, m := range methods {
				for i, s := range dropInShared {
					b.Run(fmt.Sprintf("method=%s/impl=%s", m.name, s.impl), func(b *testing.B) {
						call := m.of(b, running[i])
						runtime.GC() // frees the garbage of making it
						b.ReportAllocs()
						for b.Loop() {
							call()
						}
					})
				}
			}
		})
	}
}

// TestMethodsGiveTheSame calls each method on both sides.
func TestMethodsGiveTheSame(t *testing.T) {
	const objects, calls = 1000, 3
	for _, m := range methods {
		var results [][]int
		for _, s := range dropInShared {
			d := newDropIn(t, s, objects)
			call := m.of(t, d)
			given := make([]int, calls)
			for i := range given {
				given[i] = call()
			}
			results = append(results, append(given, len(d.store.List())))
			d.stop()
		}
		assert.Equal(t, results[0], results[1], m.name)
	}
}

// sharedSide makes informers of one of the packages.
type sharedSide struct {
	impl string
	make func(lw cache.ListerWatcher, indexers cache.Indexers) cache.SharedIndexInformer
}

var dropInShared = []sharedSide{
	{"typed", func(lw cache.ListerWatcher, indexers cache.Indexers) cache.SharedIndexInformer {
		return adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, indexers)
	}},
	{"client-go", func(lw cache.ListerWatcher, indexers cache.Indexers) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, indexers)
	}},
}

// dropIn is a running informer with its store, and the parts that methods are called on.
type dropIn struct {
	cache.SharedIndexInformer
	store  cache.Indexer
	lister corev1listers.PodLister
	handle cache.ResourceEventHandlerRegistration

	make   func(cache.ListerWatcher, cache.Indexers) cache.SharedIndexInformer
	pods   []*corev1.Pod
	all    []any    // the same
	joined []string // keys, in random order
	apps   []string
	stop   func()
}

func newDropIn(tb testing.TB, s sharedSide, objects int) *dropIn {
	c := cluster.New(objects, max(5, min(100, objects/10)))
	d := &dropIn{make: s.make, pods: c.Pods(1), apps: c.Apps()}
	for _, pod := range d.pods {
		d.all = append(d.all, pod)
	}
	_, d.joined = keysOf(d.pods)
	indexers := twoIndexers()
	indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
	shared := side{s.impl, func(_ testing.TB, from cache.ListerWatcher, _ bool) informer {
		d.SharedIndexInformer = s.make(from, indexers)
		return newShared(d)
	}}
	r := startSynced(tb, shared, true, cluster.ListOf(d.pods, "1"), calls{})
	d.stop, d.store, d.lister = r.stop, d.GetIndexer(), corev1listers.NewPodLister(d.GetIndexer())
	handle, err := d.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.NoError(tb, err)
	<-handle.HasSyncedChecker().Done()
	for d.LastSyncResourceVersion() == "" { // Reflectors set it after the store has the list
		runtime.Gosched()
	}
	d.handle = handle
	return d
}

// method is a method of an informer. Of returns a function that calls it once, and returns how
// much it has found, which is the same on both sides.
type method struct {
	name string
	of   func(tb testing.TB, d *dropIn) (call func() int)
}

// on makes a method that needs nothing but the informer.
func on(name string, call func(d *dropIn) int) method {
	return method{name, func(_ testing.TB, d *dropIn) func() int { return func() int { return call(d) } }}
}

// onKeys makes a method that is called with one key after the other.
func onKeys(name string, call func(d *dropIn, key string) int) method {
	return method{name, func(_ testing.TB, d *dropIn) func() int {
		keys := ring.Of(d.joined)
		return func() int { return call(d, keys.Next()) }
	}}
}

// onPods makes a method that is called with one Pod after the other, newer ones
// than those in the store.
func onPods(name string, call func(tb testing.TB, d *dropIn, pod *corev1.Pod) int) method {
	return method{name, func(tb testing.TB, d *dropIn) func() int {
		newer := slices.Clone(d.pods[:min(len(d.pods), 1000)])
		for i, pod := range newer {
			copied := *pod
			copied.ResourceVersion = strconv.Itoa(i)
			newer[i] = &copied
		}
		pods := ring.Of(append(newer, d.pods[:len(newer)]...))
		return func() int { return call(tb, d, pods.Next()) }
	}}
}

// onApps makes a method that is called with the name of one application after the
// other.
func onApps(name string, call func(d *dropIn, app string) int) method {
	return method{name, func(_ testing.TB, d *dropIn) func() int {
		apps := ring.Of(d.apps)
		return func() int { return call(d, apps.Next()) }
	}}
}

func found(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func count[E any](list []E, err error) int {
	if err != nil {
		return -1
	}
	return len(list)
}

// methods are all of them, in the order of their interfaces.
var methods = slices.Concat(storeMethods, indexMethods, listerMethods, informerMethods)

var storeMethods = []method{
	onPods("Add", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int { return found(d.store.Add(pod) == nil) }),
	onPods("Update", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int { return found(d.store.Update(pod) == nil) }),
	onPods("DeleteAndAdd", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int {
		return found(d.store.Delete(pod) == nil) + found(d.store.Add(pod) == nil)
	}),
	on("List", func(d *dropIn) int { return len(d.store.List()) }),
	on("ListKeys", func(d *dropIn) int { return len(d.store.ListKeys()) }),
	onPods("Get", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int {
		_, ok, _ := d.store.Get(pod)
		return found(ok)
	}),
	onKeys("GetByKey", func(d *dropIn, key string) int {
		_, ok, _ := d.store.GetByKey(key)
		return found(ok)
	}),
	on("GetByKeyWithoutMatch", func(d *dropIn) int {
		_, ok, _ := d.store.GetByKey("kube-system/coredns-668d6bf9bc-2xk4z")
		return found(ok)
	}),
	{"Replace", func(_ testing.TB, d *dropIn) func() int {
		return func() int { return found(d.store.Replace(d.all, "2") == nil) }
	}},
	on("Bookmark", func(d *dropIn) int { d.store.Bookmark("3"); return 0 }),
	on("LastStoreSyncResourceVersion", func(d *dropIn) int { return len(d.store.LastStoreSyncResourceVersion()) }),
	on("Resync", func(d *dropIn) int { return found(d.store.Resync() == nil) }),
}

var indexMethods = []method{
	onPods("Index", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int { return count(d.store.Index("app", pod)) }),
	onApps("ByIndex", func(d *dropIn, app string) int { return count(d.store.ByIndex("app", app)) }),
	on("ByIndexWithoutMatch", func(d *dropIn) int { return count(d.store.ByIndex("app", "none")) }),
	onApps("IndexKeys", func(d *dropIn, app string) int { return count(d.store.IndexKeys("app", app)) }),
	on("IndexKeysWithoutMatch", func(d *dropIn) int { return count(d.store.IndexKeys("app", "none")) }),
	on("ListIndexFuncValues", func(d *dropIn) int { return len(d.store.ListIndexFuncValues("app")) }),
	on("GetIndexers", func(d *dropIn) int { return len(d.store.GetIndexers()) }),
	{"AddIndexers", func(_ testing.TB, d *dropIn) func() int {
		// They cannot be removed, so each is added to a new informer that has the same objects.
		return func() int {
			x := d.make(cluster.NewFeed(), cache.Indexers{})
			_ = x.GetStore().Replace(d.all, "1")
			return found(x.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}) == nil)
		}
	}},
}

var listerMethods = []method{
	on("ListerList", func(d *dropIn) int { return count(d.lister.List(labels.Everything())) }),
	onApps("ListerListSelector", func(d *dropIn, app string) int {
		return count(d.lister.List(labels.SelectorFromSet(labels.Set{"app": app})))
	}),
	on("ListerNamespaceList", func(d *dropIn) int {
		return count(d.lister.Pods(cluster.NamespaceName(0)).List(labels.Everything()))
	}),
	onPods("ListerNamespaceGet", func(_ testing.TB, d *dropIn, pod *corev1.Pod) int {
		_, err := d.lister.Pods(pod.Namespace).Get(pod.Name)
		return found(err == nil)
	}),
}

var informerMethods = []method{
	on("AddEventHandler", func(d *dropIn) int {
		return d.added(d.AddEventHandler(cache.ResourceEventHandlerFuncs{}))
	}),
	on("AddEventHandlerWithOptions", func(d *dropIn) int {
		return d.added(d.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{}, cache.HandlerOptions{ResyncPeriod: new(time.Duration)}))
	}),
	{"RemoveEventHandlerAgain", func(tb testing.TB, d *dropIn) func() int {
		handle, err := d.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(tb, err)
		return func() int { return found(d.RemoveEventHandler(handle) == nil) }
	}},
	on("GetStore", func(d *dropIn) int { return found(d.GetStore() != nil) }),
	on("GetIndexer", func(d *dropIn) int { return found(d.GetIndexer() != nil) }),
	on("GetController", func(d *dropIn) int { return found(d.GetController().HasSynced()) }),
	on("GetControllerVersion", func(d *dropIn) int { return len(d.GetController().LastSyncResourceVersion()) }),
	on("HasSynced", func(d *dropIn) int { return found(d.HasSynced()) }),
	on("HasSyncedChecker", func(d *dropIn) int { return found(cache.IsDone(d.HasSyncedChecker())) }),
	on("HasSyncedCheckerName", func(d *dropIn) int { return len(d.HasSyncedChecker().Name()) }),
	on("LastSyncResourceVersion", func(d *dropIn) int { return len(d.LastSyncResourceVersion()) }),
	on("IsStopped", func(d *dropIn) int { return found(d.IsStopped()) }),
	on("SetTransform", func(d *dropIn) int { return found(d.SetTransform(nil) == nil) }),
	on("SetWatchErrorHandler", func(d *dropIn) int { return found(d.SetWatchErrorHandler(nil) == nil) }),
	on("RegistrationHasSynced", func(d *dropIn) int { return found(d.handle.HasSynced()) }),
	on("RegistrationHasSyncedChecker", func(d *dropIn) int { return found(cache.IsDone(d.handle.HasSyncedChecker())) }),
}

// added waits until a handler was called for all objects, and removes it.
func (d *dropIn) added(handle cache.ResourceEventHandlerRegistration, err error) int {
	if err != nil {
		return -1
	}
	<-handle.HasSyncedChecker().Done()
	return found(cache.ShutDownEventHandler(d, handle) == nil)
}
