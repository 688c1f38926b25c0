package adapters_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Without a relist, each of many informers that start at different times receives every single
// later write.
func TestFromSharedReportsEveryWrite(t *testing.T) {
	for name, delivery := range map[string]typed.Delivery{"every event": typed.EveryEvent(), "block": typed.Block(3)} {
		t.Run(name, func(t *testing.T) {
			onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
				s := newRig("a", "b", "c", "d")
				s.startShared()

				random := rand.New(rand.NewPCG(1, 2))
				var writes []string
				since := map[*sharedCalls]int{}
				for n := range 2000 {
					if n%250 == 0 {
						synctest.Wait() // so that it is known what is initial
						pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](s.shared))
						calls := &sharedCalls{}
						_, err := pods.Handle(calls, typed.WithDelivery(delivery))
						require.NoError(t, err)
						sharedRun(t, pods.Run, nil)
						require.NoError(t, pods.WaitForSync(t.Context()))
						require.Len(t, calls.next(), len(s.pods))
						since[calls] = n
					}
					name := string("abcdefgh"[random.IntN(8)])
					was := s.pods[name]
					switch {
					case was == nil:
						writes = append(writes, fmt.Sprintf("add %s@%s", name, s.write(name)))
					case random.IntN(4) == 0:
						s.remove(name)
						writes = append(writes, fmt.Sprintf("delete %s@%d Watched", name, s.version))
					default:
						writes = append(writes, fmt.Sprintf("update %s@%s@%s", name, was.ResourceVersion, s.write(name)))
					}
				}
				for calls, n := range since {
					assert.Equal(t, writes[n:], calls.next())
				}
			})
		})
	}
}

// sharedWorld is somewhere that Pods are written to, and a shared informer of it.
type sharedWorld struct {
	shared cache.SharedIndexInformer
	write  func(pod *corev1.Pod) (version string) // creates or updates
	remove func(name string)
	writes int    // how many are enough
	fail   func() // watches end, and the version that they were at is gone
	list   func() []*corev1.Pod
}

func sharedWorldOfClient(t *testing.T, client kubernetes.Interface) *sharedWorld {
	factory := informers.NewSharedInformerFactory(client, 0)
	w := &sharedWorld{shared: factory.Core().V1().Pods().Informer(), writes: 200, fail: func() {}}
	pods := client.CoreV1().Pods("ns")
	w.write = func(pod *corev1.Pod) string {
		written, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			written, err = pods.Create(t.Context(), pod, metav1.CreateOptions{})
		}
		if !assert.NoError(t, err) {
			return ""
		}
		return written.ResourceVersion
	}
	w.remove = func(name string) { _ = pods.Delete(t.Context(), name, metav1.DeleteOptions{}) }
	w.list = func() (all []*corev1.Pod) {
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		return all
	}
	return w
}

var sharedWorlds = map[string]func(t *testing.T) *sharedWorld{
	"server in memory": func(t *testing.T) *sharedWorld {
		srv := apitest.Start(t)
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		w := sharedWorldOfClient(t, client)
		w.fail = func() {
			srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")})
		}
		return w
	},
	"fake clientset": func(t *testing.T) *sharedWorld {
		w := sharedWorldOfClient(t, fake.NewClientset())
		w.writes = 50 // it is slow
		write, version := w.write, 0
		w.write = func(pod *corev1.Pod) string { // it sets no versions itself
			version++
			pod.ResourceVersion = strconv.Itoa(version)
			write(pod)
			return ""
		}
		return w
	},
	"fake controller source": func(t *testing.T) *sharedWorld {
		source := fcache.NewFakeControllerSource()
		t.Cleanup(source.Shutdown)
		w := &sharedWorld{shared: cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{}), writes: 200, fail: source.ResetWatch}
		pods := map[string]*corev1.Pod{}
		w.write = func(pod *corev1.Pod) string {
			if pods[pod.Name] == nil {
				source.Add(pod)
			} else {
				source.Modify(pod)
			}
			pods[pod.Name] = pod
			return ""
		}
		w.remove = func(name string) {
			if pods[name] != nil {
				source.Delete(pods[name].DeepCopy()) // it writes to it
				delete(pods, name)
			}
		}
		w.list = func() (all []*corev1.Pod) {
			list, err := source.List(metav1.ListOptions{})
			require.NoError(t, err)
			items, err := meta.ExtractList(list)
			require.NoError(t, err)
			for _, item := range items {
				all = append(all, item.(*corev1.Pod))
			}
			return all
		}
		return w
	},
}

// Informers start and stop on a shared informer while objects are written and watches fail. Each
// delivers a gapless history, ends with the server's objects, and reports its own contents
// correctly.
func TestFromSharedLosesNothing(t *testing.T) {
	for name, newWorld := range sharedWorlds {
		t.Run(name, func(t *testing.T) { testSharedStory(t, newWorld(t)) })
	}
}

func testSharedStory(t *testing.T, w *sharedWorld) {
	sharedRun(t, func(ctx context.Context) error { w.shared.RunWithContext(ctx); return nil }, nil)
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), w.shared.HasSynced))

	written := make(chan struct{}) // closed when all is
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			for done := false; !done; {
				select {
				case <-written:
					done = true // once more
				default:
				}
				received := history.New[*corev1.Pod]()
				pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](w.shared))
				reg, err := pods.Handle(sharedLenient{received})
				assert.NoError(t, err)
				stop := sharedRunUntil(pods.Run)
				assert.NoError(t, reg.WaitForSync(t.Context()))
				stop()
				assert.NoError(t, received.Err())
			}
		})
	}
	received := history.New[*corev1.Pod]()
	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](w.shared))
	_, err := pods.Handle(sharedLenient{received})
	require.NoError(t, err)
	defer sharedRunUntil(pods.Run)()
	require.NoError(t, pods.WaitForSync(t.Context()))

	random := rand.New(rand.NewPCG(3, 4))
	last := ""
	for n := range w.writes {
		name := fmt.Sprint("pod-", random.IntN(20))
		if random.IntN(3) == 0 {
			w.remove(name)
			continue
		}
		pod := sharedPod(name, 0)
		pod.ResourceVersion = ""
		pod.Labels = map[string]string{"n": strconv.Itoa(n)}
		last = w.write(pod)
		if n%50 == 49 && last != "" {
			require.NoError(t, pods.WaitForResourceVersion(t.Context(), last))
			held, ok := pods.Get(index.Key{Namespace: "ns", Name: name})
			require.True(t, ok)
			order, err := resourceversion.CompareResourceVersion(held.ResourceVersion, last)
			require.NoError(t, err)
			require.GreaterOrEqual(t, order, 0, "it waited for the version")
		}
		if n == w.writes/2 {
			w.fail()
		}
	}
	// The first can come with a list, in the midst of what changed meanwhile; the
	// second comes after all that was listed.
	for _, name := range []string{"first-after-all", "second-after-all"} {
		pod := sharedPod(name, 0)
		pod.ResourceVersion = ""
		w.write(pod)
		seen := make(chan struct{})
		reg, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(pod *corev1.Pod, _ bool) {
			if pod.Name == name {
				close(seen)
			}
		}})
		require.NoError(t, err)
		<-seen
		reg.Close()
	}
	close(written)
	running.Wait()
	require.NoError(t, received.Err())
	assert.Empty(t, history.Diff("server", w.list(), "informer", pods.List()))
	for _, untyped := range w.shared.GetStore().List() {
		held, _ := pods.Get(index.KeyOf(untyped.(*corev1.Pod)))
		assert.Same(t, untyped, held)
	}
}

// sharedRunUntil runs something until the function that it returns is called,
// which waits for it.
func sharedRunUntil(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
