package apitest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/apitest"
)

// everywhere runs a test over sockets, and in a bubble.
func everywhere(t *testing.T, test func(t *testing.T)) {
	t.Run("sockets", test)
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, test) })
}

// took returns how long a function takes.
func took(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithObjects(pod("p")))
		pods := clientset(t, srv, "").CoreV1().Pods("default")
		get := func() {
			_, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
			assert.NoError(t, err)
		}
		for way, times := range map[apitest.Way]time.Duration{apitest.Both: 2, apitest.Requests: 1, apitest.Answers: 1} {
			fault := srv.Inject(apitest.Fault{Way: way, Latency: time.Second})
			assert.Equal(t, times*time.Second, took(get), "%v", way)
			fault.Remove()
			assert.Zero(t, took(get))
		}
		srv.Inject(apitest.Fault{Verb: "get", Latency: time.Second, Times: 1})
		srv.Inject(apitest.Fault{Verb: "get", Latency: time.Minute, Times: 1})
		assert.Equal(t, 2*time.Minute+2*time.Second, took(get), "they add up")
		assert.Zero(t, took(get))
	})
}

// TestLatencyOfAWatch: what is on its way does not hold up what follows.
func TestLatencyOfAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		w := watchPods(t, t.Context(), srv, "", metav1.ListOptions{})
		fault := srv.Inject(apitest.Fault{Verb: "watch", Latency: time.Hour})
		begun := time.Now()
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, srv.Create(t.Context(), pod(name)))
			time.Sleep(time.Minute)
		}
		for i, name := range []string{"a", "b", "c"} {
			e := <-w.ResultChan()
			assert.Equal(t, name, e.Object.(*corev1.Pod).Name)
			assert.Equal(t, time.Hour+time.Duration(i)*time.Minute, time.Since(begun))
		}
		require.NoError(t, srv.Create(t.Context(), pod("d")))
		time.Sleep(time.Minute)
		fault.Remove()
		assert.Equal(t, "d", (<-w.ResultChan()).Object.(*corev1.Pod).Name, "what is on its way arrives at once")
		assert.Equal(t, time.Hour+3*time.Minute, time.Since(begun))
	})
}

func TestBandwidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		large := pod("p")
		large.Annotations = map[string]string{"large": strings.Repeat("x", 100_000)}
		require.NoError(t, srv.Create(t.Context(), large))
		pods := clientset(t, srv, "").CoreV1().Pods("default")
		srv.Inject(apitest.Fault{Bandwidth: 10_000})
		srv.Inject(apitest.Fault{Bandwidth: 1_000})
		assert.InEpsilon(t, 100, took(func() {
			_, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
			assert.NoError(t, err)
		}).Seconds(), 0.02)

		client := http.Client{Transport: srv.Config().Transport}
		response, err := client.Get(srv.URL + "/api/v1/namespaces/default/pods/p")
		require.NoError(t, err)
		assert.InEpsilon(t, 20, took(func() {
			_, err := io.ReadFull(response.Body, make([]byte, 20_000))
			assert.NoError(t, err)
		}).Seconds(), 0.1, "it comes little by little")
		assert.NoError(t, response.Body.Close())
	})
}

func TestFreeze(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		ctx := testContext(t)
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		w := watchPods(t, ctx, srv, "", metav1.ListOptions{})
		fault := srv.Inject(apitest.Fault{Resource: "pods", Freeze: true})
		created := make(chan error)
		go func() {
			_, err := clientset(t, srv, "").CoreV1().Pods("default").Create(ctx, pod("p"), metav1.CreateOptions{})
			created <- err
		}()
		require.Eventually(t, func() bool { return fault.Met() > 0 }, patience, time.Millisecond)
		assert.Equal(t, "1", srv.ResourceVersion(), "it has not arrived")
		require.NoError(t, srv.Create(ctx, pod("q")))
		time.Sleep(50 * time.Millisecond)
		select {
		case <-created:
			assert.Fail(t, "answered while frozen")
		case e := <-w.ResultChan():
			assert.Fail(t, "delivered while frozen", "%v", e)
		default:
		}
		fault.Remove()
		fault.Remove()
		assert.NoError(t, <-created)
		assert.Equal(t, "q", next(t, w).Object.(*corev1.Pod).Name)
		assert.Equal(t, "p", next(t, w).Object.(*corev1.Pod).Name)
		assert.Equal(t, 2, fault.Met()+srv.Watches("pods"))
	})
}

// TestLostAnswers: a write takes effect, and the client receives an error.
func TestLostAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		fault apitest.Fault
		is    func(err error) bool
	}{
		"reset":     {apitest.Fault{End: apitest.Reset}, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		"abrupt":    {apitest.Fault{End: apitest.Abrupt}, func(err error) bool { return errors.Is(err, io.EOF) }},
		"torn":      {apitest.Fault{End: apitest.Torn}, func(err error) bool { return errors.Is(err, io.EOF) }},
		"timeout":   {apitest.Fault{Err: apierrors.NewTimeoutError("too slow", 0)}, apierrors.IsTimeout},
		"half-open": {apitest.Fault{HalfOpen: true}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		"frozen":    {apitest.Fault{Freeze: true}, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T) {
				srv := apitest.Start(t)
				pods := clientset(t, srv, "").CoreV1().Pods("default")
				fault := test.fault
				fault.Verb, fault.Way = "create", apitest.Answers
				injected := srv.Inject(fault)
				create := func(name string, arrived func() bool) error {
					ctx, cancel := context.WithCancel(testContext(t))
					var watching sync.WaitGroup
					defer watching.Wait()
					defer cancel()
					if fault.Freeze || fault.HalfOpen { // it would wait for ever
						watching.Go(func() {
							for !arrived() && ctx.Err() == nil {
								time.Sleep(time.Millisecond)
							}
							cancel()
						})
					}
					_, err := pods.Create(ctx, pod(name), metav1.CreateOptions{})
					return err
				}
				unchanged := srv.ResourceVersion()
				err := create("p", func() bool { return srv.ResourceVersion() != unchanged })
				assert.True(t, test.is(err), "%v", err)
				injected.Remove()
				never := func() bool { return false }
				assert.True(t, apierrors.IsAlreadyExists(create("p", never)))

				fault.Way = apitest.Requests
				injected = srv.Inject(fault)
				err = create("q", func() bool { return injected.Met() > 0 })
				assert.True(t, test.is(err), "%v", err)
				w := watchPods(t, t.Context(), srv, "", metav1.ListOptions{})
				injected.Remove()
				if fault.Freeze {
					assert.Equal(t, "q", next(t, w).Object.(*corev1.Pod).Name, "what was sent arrives")
					return
				}
				assert.NoError(t, create("q", never), "it has not taken effect")
			})
		})
	}
}

func TestResetOfAWatch(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		ctx := testContext(t)
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		w := watchPods(t, ctx, srv, "", metav1.ListOptions{})
		require.NoError(t, srv.Create(ctx, pod("p")))
		assert.Equal(t, "p", next(t, w).Object.(*corev1.Pod).Name)
		assert.Equal(t, 1, srv.Inject(apitest.Fault{Open: true, End: apitest.Reset}).Met())
		assert.Zero(t, srv.Watches(""))
		for _, e := range remaining(t, w) {
			assert.Equal(t, watch.Error, e.Type)
			assert.ErrorContains(t, apierrors.FromObject(e.Object), "connection reset by peer")
		}
		watchPods(t, ctx, srv, "", metav1.ListOptions{})
	})
}

func TestHalfOpen(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		ctx := testContext(t)
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		w := watchPods(t, ctx, srv, "", metav1.ListOptions{})
		fault := srv.Inject(apitest.Fault{Resource: "pods", HalfOpen: true})
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 0), "the server knows of none")
		require.NoError(t, srv.Create(ctx, pod("p")))
		time.Sleep(50 * time.Millisecond)
		select {
		case e := <-w.ResultChan():
			assert.Fail(t, "the client hears something", "%v", e)
		default:
		}
		fault.Remove()
		for _, e := range remaining(t, w) {
			assert.Equal(t, watch.Error, e.Type)
		}
		list, err := clientset(t, srv, "").CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 1)
	})
}

// TestCloseEndsFaultyRequests: no goroutine is left in the bubble.
func TestCloseEndsFaultyRequests(t *testing.T) {
	for name, fault := range map[string]apitest.Fault{
		"latency":        {Latency: time.Hour},
		"late answers":   {Way: apitest.Answers, Latency: time.Hour},
		"bandwidth":      {Bandwidth: 1},
		"freeze":         {Freeze: true},
		"frozen answers": {Way: apitest.Answers, Freeze: true},
		"half-open":      {HalfOpen: true},
		"hold":           {Verb: "watch", Hold: true},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T) {
				srv, err := apitest.NewServer(apitest.WithObjects(pod("p")))
				require.NoError(t, err)
				w := watchPods(t, t.Context(), srv, "", metav1.ListOptions{})
				srv.Inject(fault)
				require.NoError(t, srv.Create(t.Context(), pod("q")))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = clientset(t, srv, "").CoreV1().RESTClient().Get().MaxRetries(0).Resource("pods").Do(t.Context()).Error()
				}()
				time.Sleep(20 * time.Millisecond)
				assert.NoError(t, srv.Close())
				<-ended
				for range w.ResultChan() {
					// It ends.
				}
			})
		})
	}
}

// TestConcurrentFaults injects and lifts everything at once, while a client follows.
func TestConcurrentFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		faults := []apitest.Fault{
			{Latency: 3 * time.Millisecond}, {Bandwidth: 100_000}, {Freeze: true}, {HalfOpen: true}, {Verb: "watch", Hold: true},
			{Open: true, End: apitest.Reset}, {Open: true, End: apitest.Torn}, {Open: true, Latency: time.Millisecond},
			{Times: 2, End: apitest.Abrupt}, {Way: apitest.Answers, Times: 1, End: apitest.Reset}, {Err: errors.New("no"), Times: 1},
			{Open: true, Event: watch.Event{Type: watch.Bookmark}},
		}
		for i, fault := range faults {
			background(t, func(ctx context.Context) {
				for n := 0; ctx.Err() == nil; n++ {
					injected := srv.Inject(fault)
					time.Sleep(time.Duration(7+i) * time.Millisecond)
					injected.Remove()
					time.Sleep(time.Duration(31*(i+1)) * time.Millisecond)
				}
			})
		}
		follow(t, srv, 300)
	})
}

// follow writes for a while, and waits until an informer has seen it all.
func follow(t *testing.T, srv *apitest.Server, writes int) {
	informer := newInformer(t, srv)
	background(t, func(ctx context.Context) { assert.NoError(t, informer.Run(ctx)) })
	for range writes {
		if err := srv.Create(t.Context(), pod("p")); err != nil {
			require.NoError(t, srv.Delete(t.Context(), pod("p")))
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, informer.WaitForResourceVersion(t.Context(), srv.ResourceVersion()))
	assert.Empty(t, informer.List())
}

func TestFaultMet(t *testing.T) {
	srv := apitest.Start(t)
	fault := srv.Inject(apitest.Fault{Verb: "get", Times: 2})
	for n := range 3 {
		do(t, t.Context(), srv, http.MethodGet, "/api/v1/namespaces/default/pods/p", http.Header{}, "")
		assert.Equal(t, min(n+1, 2), fault.Met())
	}
}

// TestFaultOfOneClient: requests of others are left alone.
func TestFaultOfOneClient(t *testing.T) {
	srv := apitest.Start(t)
	srv.Inject(apitest.Fault{UserAgent: "mine", Err: apierrors.NewUnauthorized("who are you?")})
	for agent, code := range map[string]int{"mine/1": http.StatusUnauthorized, "other": http.StatusOK} {
		answer := do(t, t.Context(), srv, http.MethodGet, "/api/v1/pods", http.Header{"User-Agent": {agent}}, "")
		assert.Equal(t, code, answer.StatusCode, agent)
	}
}
