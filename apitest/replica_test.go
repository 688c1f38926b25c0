package apitest_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func replicaOf(t *testing.T, srv *apitest.Server) *apitest.Server {
	r, err := srv.Replica()
	require.NoError(t, err)
	return r
}

// TestReplicas: what is written to one server is there for all.
func TestReplicas(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		ctx := testContext(t)
		first := apitest.Start(t)
		second := replicaOf(t, first)
		w := watchPods(t, ctx, second, "", metav1.ListOptions{})
		_, err := clientset(t, first, "").CoreV1().Pods("default").Create(ctx, pod("p"), metav1.CreateOptions{})
		require.NoError(t, err)
		e := next(t, w)
		assert.Equal(t, "p", e.Object.(*corev1.Pod).Name)
		assert.Equal(t, second.ResourceVersion(), e.Object.(*corev1.Pod).ResourceVersion)
		assert.Equal(t, first.ResourceVersion(), second.ResourceVersion())
		assert.Equal(t, 1, first.Requests("create", "pods"))
		assert.Zero(t, second.Requests("create", "pods"))
		assert.Zero(t, first.Watches("pods"))

		second.Inject(apitest.Fault{Err: apierrors.NewUnauthorized("not here")})
		_, err = clientset(t, first, "").CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		assert.NoError(t, err)
		third := replicaOf(t, second)
		require.NoError(t, second.Close())
		_, err = clientset(t, third, "").CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		assert.Error(t, err, "closed with the second")
		require.NoError(t, first.Close())
		_, err = first.Replica()
		assert.ErrorContains(t, err, "the server is closed")
	})
}

// TestLag looks at a server whose watch cache has not seen the last writes.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithBookmarks(0), apitest.WithObjects(pod("old")))
		pods := clientset(t, srv, "").CoreV1().Pods("default")
		past := srv.ResourceVersion()
		open := watchPods(t, t.Context(), srv, "", metav1.ListOptions{AllowWatchBookmarks: true})
		fault := srv.Inject(apitest.Fault{Resource: "pods", Lag: true})
		require.NoError(t, srv.Delete(t.Context(), pod("old")))
		require.NoError(t, srv.Create(t.Context(), pod("new")))
		present := srv.ResourceVersion()

		list := func(version string, match metav1.ResourceVersionMatch) (names []string, at string, err error) {
			opts := metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: match}
			request := clientset(t, srv, "").CoreV1().RESTClient().Get().MaxRetries(0).Namespace("default").Resource("pods")
			var found corev1.PodList
			err = request.VersionedParams(&opts, scheme.ParameterCodec).Do(t.Context()).Into(&found)
			for _, p := range found.Items {
				names = append(names, p.Name)
			}
			return names, found.ResourceVersion, err
		}
		for name, test := range map[string]struct {
			version string
			match   metav1.ResourceVersionMatch
			want    string // a Pod
			at      string
			waits   time.Duration
		}{
			"any":            {"0", "", "old", past, 0},
			"any, explicit":  {"0", metav1.ResourceVersionMatchNotOlderThan, "old", past, 0},
			"not older":      {past, metav1.ResourceVersionMatchNotOlderThan, "old", past, 0},
			"legacy":         {past, "", "old", past, 0},
			"exact":          {past, metav1.ResourceVersionMatchExact, "old", past, 0},
			"exact, present": {present, metav1.ResourceVersionMatchExact, "new", present, 0},
			"consistent":     {"", "", "new", present, 3 * time.Second},
		} {
			var names []string
			var at string
			var err error
			assert.Equal(t, test.waits, took(func() { names, at, err = list(test.version, test.match) }), name)
			require.NoError(t, err, name)
			assert.Equal(t, []string{test.want}, names, name)
			assert.Equal(t, test.at, at, name)
		}
		var err error
		assert.Equal(t, 3*time.Second, took(func() { _, _, err = list(present, metav1.ResourceVersionMatchNotOlderThan) }))
		assert.ErrorContains(t, err, "Too large resource version: "+present+", current: "+past)
		delay, retry := apierrors.SuggestsClientDelay(err)
		assert.True(t, retry)
		assert.Equal(t, 1, delay)

		get := func(name, version string) error {
			_, err := pods.Get(t.Context(), name, metav1.GetOptions{ResourceVersion: version})
			return err
		}
		assert.NoError(t, get("old", "0"))
		assert.True(t, apierrors.IsNotFound(get("new", "0")))
		assert.NoError(t, get("new", ""))
		assert.True(t, apierrors.IsNotFound(get("old", "")))

		srv.Inject(apitest.Fault{Open: true, Event: watch.Event{Type: watch.Bookmark}})
		stale := watchPods(t, t.Context(), srv, "", metav1.ListOptions{ResourceVersion: "0"})
		fresher := watchPods(t, t.Context(), srv, "", metav1.ListOptions{ResourceVersion: present})
		assert.Equal(t, "old", (<-stale.ResultChan()).Object.(*corev1.Pod).Name)
		time.Sleep(time.Hour)
		select {
		case e := <-open.ResultChan():
			assert.Fail(t, "the cache has nothing", "%v", e)
		case e := <-stale.ResultChan():
			assert.Fail(t, "the cache has nothing", "%v", e)
		case e := <-fresher.ResultChan():
			assert.Fail(t, "the cache has nothing", "%v", e)
		default:
		}

		waiting := make(chan error)
		go func() { waiting <- get("new", present) }()
		time.Sleep(2 * time.Second)
		fault.Remove()
		assert.NoError(t, <-waiting, "it has come in time")
		for _, w := range []watch.Interface{open, stale} {
			assert.Equal(t, watch.Modified, (<-w.ResultChan()).Type, "Pods are marked first")
			assert.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
			e := <-w.ResultChan()
			assert.Equal(t, watch.Added, e.Type)
			assert.Equal(t, present, e.Object.(*corev1.Pod).ResourceVersion)
		}
		assert.Equal(t, watch.Bookmark, (<-open.ResultChan()).Type)
		require.NoError(t, srv.Create(t.Context(), pod("newer")))
		assert.Equal(t, "newer", (<-fresher.ResultChan()).Object.(*corev1.Pod).Name)
		names, _, err := list("0", "")
		require.NoError(t, err)
		assert.Equal(t, []string{"new", "newer"}, names)
	})
}

// TestStreamedListsOfACacheThatLags: they wait, fail, and are tried again.
func TestStreamedListsOfACacheThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithObjects(pod("old")))
		fault := srv.Inject(apitest.Fault{Resource: "pods", Lag: true})
		require.NoError(t, srv.Create(t.Context(), pod("new")))
		yes := true
		w, err := clientset(t, srv, "").CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		require.NoError(t, err)
		defer w.Stop()
		begun := time.Now()
		e := <-w.ResultChan()
		require.Equal(t, watch.Error, e.Type)
		assert.True(t, apierrors.IsTimeout(apierrors.FromObject(e.Object)))
		assert.LessOrEqual(t, time.Since(begun), 3*time.Second)

		srv.Compact()
		list, err := clientset(t, srv, "").CoreV1().Pods("").List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		assert.Len(t, list.Items, 2, "the cache is made anew")
		fault.Remove()
	})
}

// TestInformersDoNotTravelInTime moves informers to a server that is behind. Their stores do not
// return to older states: they wait for the server, and lose nothing. A new informer that lists
// there at any version, as client-go's do, begins in the past.
func TestInformersDoNotTravelInTime(t *testing.T) {
	for name, opts := range map[string][]apitest.Option{"streamed": nil, "listed": {apitest.WithoutWatchList()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := apitest.Start(t, append(opts, apitest.WithObjects(pod("old")))...)
				second := replicaOf(t, first)
				var at atomic.Pointer[apitest.Server]
				at.Store(first)
				config := apitest.Balance(func(*http.Request) *apitest.Server { return at.Load() })
				client, err := kubernetes.NewForConfig(config)
				require.NoError(t, err)
				for name, informer := range map[string]*typed.Informer[*corev1.Pod]{
					"FromREST":   typed.NewInformer(kube.FromREST[*corev1.Pod](config)),
					"FromClient": typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""))),
				} {
					h := history.New[*corev1.Pod]()
					_, err := informer.Handle(h)
					require.NoError(t, err)
					t.Cleanup(func() { assert.NoError(t, h.Err(), name) })
					background(t, func(ctx context.Context) { assert.NoError(t, informer.Run(ctx)) })
					require.NoError(t, informer.WaitForSync(t.Context()))

					lag := second.Inject(apitest.Fault{Resource: "pods", Lag: true})
					require.NoError(t, first.Delete(t.Context(), pod("old")))
					require.NoError(t, first.Create(t.Context(), pod("new")))
					version := first.ResourceVersion()
					require.NoError(t, informer.WaitForResourceVersion(t.Context(), version))
					at.Store(second)
					// The next watch cannot be served either: it lists, and knows its version.
					second.Inject(apitest.Fault{Verb: "watch", Times: 3, Err: apierrors.NewResourceExpired("too old")})
					first.Inject(apitest.Fault{Open: true, End: apitest.Clean})
					for range 60 {
						time.Sleep(time.Minute)
						synctest.Wait()
						assert.Equal(t, version, informer.ResourceVersion(), "%s", name)
						assert.Equal(t, []string{"new"}, namesOf(informer.List()), "%s", name)
					}
					assert.Positive(t, second.Requests("watch", "pods"), "it has asked")
					lag.Remove()
					require.NoError(t, first.Create(t.Context(), pod("newer")))
					require.NoError(t, informer.WaitForResourceVersion(t.Context(), first.ResourceVersion()))
					assert.Len(t, informer.List(), 2)
					require.NoError(t, first.Delete(t.Context(), pod("new"), pod("newer")))
					require.NoError(t, first.Create(t.Context(), pod("old")))
					at.Store(first)
				}
			})
		})
	}
}

// TestNewInformersBeginInThePast: a list at any version, which a new informer asks
// for as client-go's do, may be of the past; see kube.WithConsistentLists.
func TestNewInformersBeginInThePast(t *testing.T) {
	for want, opts := range map[string][]kube.SourceOption{"old": nil, "new": {kube.WithConsistentLists()}} {
		synctest.Test(t, func(t *testing.T) {
			srv := apitest.Start(t, apitest.WithoutWatchList(), apitest.WithObjects(pod("old")))
			lag := srv.Inject(apitest.Fault{Resource: "pods", Lag: true})
			require.NoError(t, srv.Delete(t.Context(), pod("old")))
			require.NoError(t, srv.Create(t.Context(), pod("new")))
			informer := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config(), opts...))
			background(t, func(ctx context.Context) { assert.NoError(t, informer.Run(ctx)) })
			require.NoError(t, informer.WaitForSync(t.Context()))
			assert.Equal(t, []string{want}, namesOf(informer.List()))
			lag.Remove()
			synctest.Wait()
			assert.Equal(t, []string{"new"}, namesOf(informer.List()))
		})
	}
}

func namesOf(pods []*corev1.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}
