package apitest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// background runs a function until the test ends.
func background(t *testing.T, run func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func TestClientsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		srv := apitest.Start(t, apitest.WithObjects(pod("p")))
		for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			got, err := clientset(t, srv, contentType).CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
			require.NoError(t, err)
			assert.True(t, got.CreationTimestamp.Time.Equal(begun), "the server's clock is that of the bubble")
		}
		loose, err := dynamicClient(t, srv).Resource(corev1.SchemeGroupVersion.WithResource("pods")).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, loose.Items, 1)
		partial, err := metadata.NewForConfig(srv.Config())
		require.NoError(t, err)
		list, err := partial.Resource(corev1.SchemeGroupVersion.WithResource("pods")).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 1)
		finder, err := discovery.NewDiscoveryClientForConfig(srv.Config())
		require.NoError(t, err)
		_, resources, err := finder.ServerGroupsAndResources()
		require.NoError(t, err)
		assert.NotEmpty(t, resources)
		assert.Equal(t, begun, time.Now(), "requests take no time")
	})
}

// TestBubblesFollowEachOther: nothing that client-go keeps for a process holds
// one bubble's goroutines for the next.
func TestBubblesFollowEachOther(t *testing.T) {
	for range 3 {
		TestClientsInABubble(t)
	}
}

func TestWatchTimesOutInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithBookmarks(time.Minute))
		begun := time.Now()
		timeout := int64(600)
		w := watchPods(t, t.Context(), srv, "", metav1.ListOptions{TimeoutSeconds: &timeout, AllowWatchBookmarks: true})
		bookmarks := 0
		for e := range w.ResultChan() {
			assert.Equal(t, watch.Bookmark, e.Type)
			bookmarks++
			assert.Equal(t, time.Duration(bookmarks)*time.Minute, time.Since(begun))
		}
		assert.Equal(t, 10*time.Minute, time.Since(begun))
		assert.GreaterOrEqual(t, bookmarks, 9)
	})
}

// TestResyncInABubble has both kinds of informers resync every ten minutes.
func TestResyncInABubble(t *testing.T) {
	const period, times = 10 * time.Minute, 6
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithObjects(pod("p")))
		begun := time.Now()
		resyncs := make(chan time.Duration, 2*times)
		note := func() { resyncs <- time.Since(begun) }

		ours := typed.NewInformer(kube.FromClient(clientset(t, srv, "").CoreV1().Pods("")))
		_, err := ours.Handle(typed.HandlerFuncs[*corev1.Pod]{UpdateFunc: func(_, _ *corev1.Pod) { note() }}, typed.WithResync(period))
		require.NoError(t, err)
		background(t, func(ctx context.Context) { assert.NoError(t, ours.Run(ctx)) })

		factory := informers.NewSharedInformerFactory(clientset(t, srv, ""), period)
		_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { note() }})
		require.NoError(t, err)
		background(t, func(ctx context.Context) {
			factory.Start(ctx.Done())
			<-ctx.Done()
			factory.Shutdown()
		})
		for n := range times {
			want := time.Duration(n+1) * period
			assert.Equal(t, want, <-resyncs)
			assert.Equal(t, want, <-resyncs)
		}
	})
}

// TestSourcesInABubble follows changes with each source there is.
func TestSourcesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		client := clientset(t, srv, "")
		fromREST := kube.FromREST[*corev1.Pod](srv.Config())
		for name, informer := range map[string]*typed.Informer[*corev1.Pod]{
			"FromREST":   typed.NewInformer(fromREST),
			"FromClient": typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""))),
			"FromListerWatcher": typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](
				cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything()))),
		} {
			background(t, func(ctx context.Context) { assert.NoError(t, informer.Run(ctx)) })
			require.NoError(t, informer.WaitForSync(t.Context()), name)
			begun := time.Now()
			for i := range 100 {
				time.Sleep(time.Minute)
				p := pod("p")
				if i%2 == 0 {
					require.NoError(t, srv.Create(t.Context(), p))
				} else {
					require.NoError(t, srv.Delete(t.Context(), p))
				}
				synctest.Wait()
				_, found := informer.Get(index.KeyOf(p))
				assert.Equal(t, i%2 == 0, found, "%s %d: all has come to rest", name, i)
			}
			assert.Equal(t, 100*time.Minute, time.Since(begun))
		}
	})
}

// TestLeaseExpiresInABubble: a leader loses the server, and another member takes over when the
// Lease has expired.
func TestLeaseExpiresInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		begun := time.Now()
		elect := func(ctx context.Context, identity string, led, lost func()) {
			lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "lead",
				resourcelock.ResourceLockConfig{Identity: identity}, srv.Config(), 10*time.Second)
			require.NoError(t, err)
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 10 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { led() },
					OnStoppedLeading: lost,
				},
			})
		}
		first, second := make(chan time.Duration, 1), make(chan time.Duration, 1)
		lost := make(chan time.Duration, 1)
		background(t, func(ctx context.Context) {
			elect(ctx, "first", func() { first <- time.Since(begun) }, func() { lost <- time.Since(begun) })
		})
		assert.Zero(t, <-first)
		background(t, func(ctx context.Context) {
			elect(ctx, "second", func() { second <- time.Since(begun) }, func() {})
		})
		time.Sleep(time.Hour - time.Second)
		fault := srv.Inject(apitest.Fault{Verb: "update", Resource: "leases", End: apitest.Reset})
		assert.Equal(t, time.Hour+40*time.Second, <-lost, "the deadline for renewing it")
		time.Sleep(time.Second) // so that what it tried last has failed, too
		fault.Remove()
		took := <-second
		renewed := time.Hour - 10*time.Second
		assert.Greater(t, took, renewed+time.Minute, "the lease was held until then")
		assert.LessOrEqual(t, took, renewed+time.Minute+44*time.Second, "who waits for it looks every 10 to 22 s, and counts from when it saw it renewed")
	})
}

// TestBackoffInABubble waits through the back-off of a queue, for more than an hour.
func TestBackoffInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		client := clientset(t, srv, "")
		fault := srv.Inject(apitest.Fault{Verb: "create", Err: apierrors.NewForbidden(corev1.Resource("pods"), "p", errors.New("not now"))})
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Hour))
		defer queue.ShutDown()
		begun := time.Now()
		time.AfterFunc(2*time.Hour, fault.Remove)
		queue.Add("p")
		attempts := 0
		for {
			name, _ := queue.Get()
			attempts++
			_, err := client.CoreV1().Pods("default").Create(t.Context(), pod(name), metav1.CreateOptions{})
			queue.Done(name)
			if err == nil {
				break
			}
			queue.AddRateLimited(name)
		}
		// 1 + 2 + 4 + … + 2048 s, and an hour.
		assert.Equal(t, 4095*time.Second+time.Hour, time.Since(begun))
		assert.Equal(t, 12+1+1, attempts)
	})
}

// TestErrorsOfAnotherClock: client-go delays code that reports errors, by the clock of the report
// before. A bubble is not delayed by the clock of another.
func TestErrorsOfAnotherClock(t *testing.T) {
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			apitest.Start(t)
			begun := time.Now()
			utilruntime.HandleError(errors.New("reported on purpose"))
			assert.Equal(t, begun, time.Now())
			time.Sleep(time.Hour)
			utilruntime.HandleError(errors.New("reported on purpose, an hour later"))
		})
	}
}

func newInformer(t *testing.T, srv *apitest.Server) *typed.Informer[*corev1.Pod] {
	return typed.NewInformer(kube.FromClient(clientset(t, srv, "").CoreV1().Pods("")))
}

func TestServerOfAnotherBubble(t *testing.T) {
	use := func(t *testing.T, srv *apitest.Server, text string) {
		t.Helper()
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		_, err = client.CoreV1().Pods("default").Create(t.Context(), pod("q"), metav1.CreateOptions{})
		_, cannot := srv.Replica()
		for name, err := range map[string]error{
			"Replica":        cannot,
			"a client":       err,
			"Create":         srv.Create(t.Context(), pod("p")),
			"Update":         srv.Update(t.Context(), pod("p")),
			"Delete":         srv.Delete(t.Context(), pod("p")),
			"WaitForWatches": srv.WaitForWatches(t.Context(), "", 0),
			"Close":          srv.Close(),
		} {
			assert.ErrorIs(t, err, apitest.ErrOtherBubble, name)
			assert.ErrorContains(t, err, text, name)
		}
		func() {
			defer func() {
				err, _ := recover().(error)
				assert.ErrorIs(t, err, apitest.ErrOtherBubble, "Inject returns no error")
			}()
			srv.Inject(apitest.Fault{})
		}()
		assert.Zero(t, srv.Watches("")+srv.Requests("", ""), "who only looks may look")
		assert.Equal(t, "1", srv.ResourceVersion())
	}
	outside := apitest.Start(t)
	var inside *apitest.Server
	synctest.Test(t, func(t *testing.T) {
		use(t, outside, "call apitest.Start in the function that synctest.Test calls")
		inside = apitest.Start(t)
	})
	use(t, inside, "start in the same function what uses it")
	synctest.Test(t, func(t *testing.T) { use(t, inside, "start one server in each") })
	assert.NoError(t, outside.Create(t.Context(), pod("p")), "it is as good as before")
}

// TestIgnoredBubbleErrors: a client that ignores ErrOtherBubble ends in a panic.
func TestIgnoredBubbleErrors(t *testing.T) {
	srv := apitest.Start(t)
	synctest.Test(t, func(t *testing.T) {
		client := clientset(t, srv, "")
		defer func() {
			err, ok := recover().(error)
			require.True(t, ok)
			assert.ErrorIs(t, err, apitest.ErrOtherBubble)
		}()
		for range 1000 {
			_, _ = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		}
	})
}
