package ctrlruntime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/source"
)

const (
	manyNamespaces = 200
	neverAllowed   = 10 // namespaces that may never be listed, the first ones
	atTimesAllowed = 30 // those after them, that may be at times
)

// TestManyNamespaces has 200 namespaces come and go while objects are written, of which some may
// not be listed, some at times. In the end, the cache has what the server has, in each form, and
// so have handlers that get the deletions of namespaces that leave. When it has stopped, no
// goroutine is left: the bubble waits for all.
func TestManyNamespaces(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain":         {ctrlruntime.WithOutOfScopeDeletions()},
		"deduplication": {ctrlruntime.WithDeduplication(), ctrlruntime.Typed[*corev1.Pod](), ctrlruntime.WithOutOfScopeDeletions()},
		"no deletions":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testManyNamespaces(t, opts) })
		})
	}
}

// mirror is what a handler has been called for.
type mirror struct {
	mu   sync.Mutex
	pods map[string]string // guarded by mu; versions by key
}

func (m *mirror) put(obj any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pod := obj.(metav1.Object)
	m.pods[pod.GetNamespace()+"/"+pod.GetName()] = pod.GetResourceVersion()
}

func (m *mirror) remove(obj any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if deleted, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = deleted.Obj
	}
	pod := obj.(metav1.Object)
	delete(m.pods, pod.GetNamespace()+"/"+pod.GetName())
}

// life is that of the namespaces.
type life struct {
	*apitest.Server
	*rand.Rand
	set    *source.Namespaces
	pods   map[string]bool // that the server has, by key
	faults map[string]*apitest.Injection
}

func namespace(n int) string { return fmt.Sprintf("namespace-%03d", n) }

func (l *life) forbid(n int) {
	if l.faults[namespace(n)] == nil {
		l.faults[namespace(n)] = l.Inject(apitest.Fault{Resource: "pods", Namespace: namespace(n), Err: errRights})
	}
}

func (l *life) allow(n int) {
	if fault := l.faults[namespace(n)]; fault != nil {
		fault.Remove()
		delete(l.faults, namespace(n))
	}
}

// step makes a change.
func (l *life) step(t *testing.T) {
	switch atTimes := neverAllowed + l.IntN(atTimesAllowed); l.IntN(20) {
	case 0:
		require.NoError(t, l.set.Add(namespace(l.IntN(manyNamespaces)), namespace(l.IntN(manyNamespaces))))
	case 1: // events of it have not arrived
		leaving := namespace(l.IntN(manyNamespaces))
		for range 5 {
			l.write(t, leaving)
		}
		l.set.Remove(leaving, namespace(l.IntN(manyNamespaces)))
	case 2:
		l.forbid(atTimes)
	case 3:
		l.allow(atTimes)
	default:
		l.write(t, namespace(l.IntN(manyNamespaces)))
	}
}

// write creates a Pod, or updates or deletes one.
func (l *life) write(t *testing.T, namespace string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("pod-", l.IntN(3))}}
	key := pod.Namespace + "/" + pod.Name
	switch {
	case !l.pods[key]:
		require.NoError(t, l.Create(t.Context(), pod))
	case l.IntN(3) == 0:
		require.NoError(t, l.Delete(t.Context(), pod))
		delete(l.pods, key)
		return
	default:
		pod.Labels = map[string]string{"changed": fmt.Sprint(l.Int())}
		require.NoError(t, l.Update(t.Context(), pod))
	}
	l.pods[key] = true
}

func testManyNamespaces(t *testing.T, opts []ctrlruntime.CacheOption) {
	l := &life{
		Server: apitest.Start(t), Rand: rand.New(rand.NewPCG(1, 2)), set: source.NewNamespaces(),
		pods: map[string]bool{}, faults: map[string]*apitest.Injection{},
	}
	for n := range neverAllowed {
		l.forbid(n)
	}
	for n := range manyNamespaces {
		if n%2 == 0 {
			require.NoError(t, l.set.Add(namespace(n)))
		}
	}
	for range 200 {
		l.write(t, namespace(l.IntN(manyNamespaces)))
	}
	config := l.Config()
	config.QPS = -1
	c, err := ctrlruntime.NewCache(append(opts, ctrlruntime.WithNamespaces(l.set))...)(config, cache.Options{})
	require.NoError(t, err)
	mirrors := map[string]*mirror{}
	for form, newPod := range podForms {
		example, _ := newPod()
		informer, err := c.GetInformer(t.Context(), example, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		m := &mirror{pods: map[string]string{}}
		mirrors[form] = m
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: m.put, UpdateFunc: func(_, obj any) { m.put(obj) }, DeleteFunc: m.remove,
		})
		require.NoError(t, err)
	}
	runCacheFor(t, c, 24*time.Hour)
	for range 1500 {
		l.step(t)
		time.Sleep(time.Duration(l.IntN(50)) * time.Millisecond)
	}
	for n := range manyNamespaces {
		if n >= neverAllowed {
			l.allow(n)
		}
	}
	require.NoError(t, l.set.Add(namespace(0), namespace(manyNamespaces-1)))
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	for form, newPod := range podForms {
		l.check(t, c, newPod, mirrors[form], len(opts) == 0)
	}
}

// check compares reads, and the calls of a handler, with the server.
func (l *life) check(t *testing.T, c cache.Cache, newPod func() (client.Object, client.ObjectList), m *mirror, left bool) {
	live, err := client.New(l.Config(), client.Options{})
	require.NoError(t, err)
	want := map[string]string{}
	for n := range manyNamespaces {
		_, list := newPod()
		err := c.List(t.Context(), list, client.InNamespace(namespace(n)))
		switch {
		case !l.set.Has(namespace(n)):
			assert.ErrorIs(t, err, source.ErrOutside)
		case n < neverAllowed:
			assert.ErrorIs(t, err, source.ErrUnlisted)
			assert.True(t, apierrors.IsForbidden(err))
		default:
			require.NoError(t, err)
			var server corev1.PodList
			require.NoError(t, live.List(t.Context(), &server, client.InNamespace(namespace(n))))
			assert.Equal(t, versions(t, &server), versions(t, list), namespace(n))
			maps.Copy(want, versions(t, list))
		}
	}
	_, list := newPod()
	require.NoError(t, c.List(t.Context(), list))
	assert.Equal(t, want, versions(t, list))
	require.NotEmpty(t, want)
	for key, version := range m.pods {
		if left && want[key] == "" {
			continue // its namespace was away when it was deleted, or still is
		}
		assert.Equal(t, want[key], version, key)
	}
	for key := range want {
		assert.Contains(t, m.pods, key)
	}
}

// versions returns the versions of the objects of a list, by key.
func versions(t *testing.T, list client.ObjectList) map[string]string {
	found := map[string]string{}
	require.NoError(t, meta.EachListItem(list, func(item runtime.Object) error {
		pod := item.(client.Object)
		found[pod.GetNamespace()+"/"+pod.GetName()] = pod.GetResourceVersion()
		return nil
	}))
	return found
}
