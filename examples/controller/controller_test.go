package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func newClient(t *testing.T, srv *apitest.Server) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	return client
}

// asking returns a ConfigMap that asks for Pods.
func asking(name, replicas string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: mine},
		Data:       map[string]string{"replicas": replicas},
	}
}

// podsOf returns the names of the Pods of a ConfigMap that are at the server, with their UIDs.
func podsOf(t *testing.T, srv *apitest.Server, name string) []string {
	t.Helper()
	list, err := newClient(t, srv).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, pod := range list.Items {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == name {
			names = append(names, pod.Name+" "+string(pod.UID))
		}
	}
	return names
}

func leaseOf(t *testing.T, srv *apitest.Server, namespace string) *coordinationv1.Lease {
	t.Helper()
	l, err := newClient(t, srv).CoordinationV1().Leases(namespace).Get(t.Context(), "kubetyped-example", metav1.GetOptions{})
	require.NoError(t, err)
	return l
}

// eventually waits for a result that comes over a network.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 2*time.Millisecond)
}

// start runs a controller, set up by the functions, until stop is called or the
// test ends.
func start(t *testing.T, srv *apitest.Server, workers int, setup ...func(*controller)) (c *controller, stop func()) {
	t.Helper()
	c, err := newController(srv.Config())
	require.NoError(t, err)
	for _, f := range setup {
		f(c)
	}
	elector, err := newElector(srv.Config(), "default", fmt.Sprintf("%p", c))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- c.run(ctx, workers, elector)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return c, stop
}

// forgetful sets up a controller that reads the watch alone, and lets the server make names.
func forgetful(c *controller) {
	pods := c.client.CoreV1().Pods(metav1.NamespaceAll)
	c.pods = typed.NewInformer(kube.FromClient(pods, kube.WithLabelSelector(mine.AsSelector())))
	c.byOwner = index.Single("owner", func(p *corev1.Pod) (index.Key, bool) {
		return index.Key{Namespace: p.Namespace, Name: metav1.GetControllerOf(p).Name}, true
	})
	if err := c.pods.AddIndexes(c.byOwner); err != nil {
		panic(err)
	}
	c.newPod = func(owner *corev1.ConfigMap, _ string) *corev1.Pod {
		pod := newPod(owner, "")
		pod.GenerateName = owner.Name + "-"
		return pod
	}
}

func TestController(t *testing.T) {
	srv := apitest.Start(t)
	foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foreign"}}
	unlabelled := asking("unlabelled", "1")
	unlabelled.Labels = nil
	require.NoError(t, srv.Create(t.Context(), foreign, unlabelled, asking("none", "0")))
	c, stop := start(t, srv, 2)
	count := func(name string, want int) {
		t.Helper()
		eventually(t, func() bool { return len(podsOf(t, srv, name)) == want })
	}

	require.NoError(t, srv.Create(t.Context(), asking("web", "3"), asking("db", "1")))
	count("web", 3)
	count("db", 1)

	web := podsOf(t, srv, "web")
	require.NoError(t, srv.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strings.Fields(web[1])[0]}}))
	eventually(t, func() bool {
		now := podsOf(t, srv, "web")
		return len(now) == 3 && !assert.ObjectsAreEqual(web, now)
	})
	assert.Subset(t, podsOf(t, srv, "web"), []string{web[0], web[2]}, "only the one that is gone is replaced")

	require.NoError(t, srv.Update(t.Context(), asking("web", "5")))
	count("web", 5)
	require.NoError(t, srv.Update(t.Context(), asking("web", "2")))
	count("web", 2)
	require.NoError(t, srv.Update(t.Context(), asking("web", "many")))
	require.NoError(t, c.owners.WaitForResourceVersion(t.Context(), srv.ResourceVersion()))
	eventually(t, func() bool { s := c.queue.Stats(); return s.Waiting+s.InFlight+s.Delayed == 0 })
	assert.Len(t, podsOf(t, srv, "web"), 2, "what cannot be understood changes nothing")

	recreated := asking("db", "1")
	db := podsOf(t, srv, "db")
	require.NoError(t, srv.Delete(t.Context(), recreated))
	require.NoError(t, srv.Create(t.Context(), recreated))
	eventually(t, func() bool {
		now := podsOf(t, srv, "db")
		return len(now) == 1 && now[0] != db[0]
	})
	require.NoError(t, srv.Delete(t.Context(), asking("web", "")))
	count("web", 0)

	stop()
	assert.Equal(t, 3+1+1+2+1, srv.Requests("create", "pods"), "none is created that is not needed")
	assert.Equal(t, 3+1+2, srv.Requests("delete", "pods"))
	assert.Empty(t, podsOf(t, srv, "none"))
	_, err := newClient(t, srv).CoreV1().Pods("default").Get(t.Context(), "foreign", metav1.GetOptions{})
	assert.NoError(t, err)
	assert.Empty(t, c.writes.Status().LeftOut)
}

// An informer that is behind makes a controller create Pods that are there
// already, unless it has those that the controller created.
func TestControllerWhoseWatchIsBehind(t *testing.T) {
	// synced waits until the informer of Pods has synced, which it does by its watch,
	// and watches.
	synced := func(t *testing.T, srv *apitest.Server, c *controller) {
		require.NoError(t, c.pods.WaitForSync(t.Context()))
		require.NoError(t, srv.WaitForWatches(t.Context(), "pods", 1))
	}
	// touched is how often the ConfigMap is changed while nothing is heard of Pods.
	const touched = 5
	touch := func(t *testing.T, srv *apitest.Server, handled func(n int) bool) {
		for n := range touched {
			web := asking("web", "3")
			web.Annotations = map[string]string{"touched": fmt.Sprint(n)}
			require.NoError(t, srv.Update(t.Context(), web))
			eventually(t, func() bool { return handled(n + 1) })
		}
	}
	t.Run("forgetful", func(t *testing.T) {
		srv := apitest.Start(t)
		c, _ := start(t, srv, 1, forgetful)
		synced(t, srv, c)
		hold := srv.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
		require.NoError(t, srv.Create(t.Context(), asking("web", "3")))
		created := func(n int) bool { return len(podsOf(t, srv, "web")) == 3*(n+1) }
		eventually(t, func() bool { return created(0) })
		touch(t, srv, created)
		assert.Equal(t, 3*(touched+1), srv.Requests("create", "pods"), "duplicates")
		hold.Remove()
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 3 })
	})
	t.Run("with own writes", func(t *testing.T) {
		srv := apitest.Start(t)
		c, _ := start(t, srv, 1)
		synced(t, srv, c)
		hold := srv.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
		require.NoError(t, srv.Create(t.Context(), asking("web", "3")))
		eventually(t, func() bool { return srv.Requests("create", "pods") == 3 })
		touch(t, srv, func(int) bool {
			s := c.queue.Stats()
			return c.owners.ResourceVersion() == srv.ResourceVersion() && s.Waiting+s.InFlight == 0
		})
		require.NoError(t, srv.Update(t.Context(), asking("web", "4")))
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 4 })
		require.NoError(t, srv.Update(t.Context(), asking("web", "1")))
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 1 })
		eventually(t, func() bool { return len(live(c)) == 1 }) // once the answer is there

		hold.Remove()
		require.NoError(t, c.pods.WaitForResourceVersion(t.Context(), srv.ResourceVersion()))
		assert.Equal(t, 3+1, srv.Requests("create", "pods"))
		assert.Equal(t, 3, srv.Requests("delete", "pods"))
		assert.Zero(t, c.pods.Status().Ahead)
	})
}

// Whatever the delays of the watch, every Pod that is created is needed.
func TestControllerNeverCreatesDuplicates(t *testing.T) {
	srv := apitest.Start(t)
	c, stop := start(t, srv, 4)
	random := rand.New(rand.NewPCG(1, 2))
	ctx, cancel := context.WithCancel(t.Context())
	var disturbing sync.WaitGroup
	disturbing.Go(func() {
		for ctx.Err() == nil {
			hold := srv.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Hold: true})
			time.Sleep(10 * time.Millisecond)
			hold.Remove()
			time.Sleep(2 * time.Millisecond)
		}
	})
	names := []string{"a", "b", "c"}
	replicas := map[string]int{}
	creates, deletes := 0, 0
	for _, name := range names {
		require.NoError(t, srv.Create(t.Context(), asking(name, "0")))
	}
	for range 30 {
		name, want := names[random.IntN(len(names))], random.IntN(6)
		require.NoError(t, srv.Update(t.Context(), asking(name, fmt.Sprint(want))))
		creates += max(0, want-replicas[name])
		deletes += max(0, replicas[name]-want)
		replicas[name] = want
		eventually(t, func() bool { return len(podsOf(t, srv, name)) == want })
	}
	cancel()
	disturbing.Wait()
	stop()
	for _, name := range names {
		assert.Len(t, podsOf(t, srv, name), replicas[name])
	}
	assert.Equal(t, creates, srv.Requests("create", "pods"))
	assert.Equal(t, deletes, srv.Requests("delete", "pods"))
	assert.Zero(t, c.writes.Status().Late)
}

func TestOneControllerLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the second waits until the Lease is free
		srv := apitest.Start(t)
		first, stop := start(t, srv, 1)
		require.NoError(t, srv.Create(t.Context(), asking("web", "2")))
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 2 })
		second, _ := start(t, srv, 1)
		require.NoError(t, second.pods.WaitForSync(t.Context()))
		require.NoError(t, srv.Update(t.Context(), asking("web", "3")))
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 3 })
		assert.Equal(t, fmt.Sprintf("%p", first), *leaseOf(t, srv, "default").Spec.HolderIdentity)

		stop()
		require.NoError(t, srv.Update(t.Context(), asking("web", "4")))
		eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 4 })
		assert.Equal(t, fmt.Sprintf("%p", second), *leaseOf(t, srv, "default").Spec.HolderIdentity)
		assert.Equal(t, 4, srv.Requests("create", "pods"))
	})
}

// TestStoppingControllerFinishesWaitingKeys stops the controller while it processes the first of
// several ConfigMaps. It uses virtual time: on a busy machine, the Pods might exist before the test
// looks.
func TestStoppingControllerFinishesWaitingKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		const owners = 5
		for i := range owners {
			require.NoError(t, srv.Create(t.Context(), asking(fmt.Sprint("web-", i), "2")))
		}
		late := srv.Inject(apitest.Fault{Verb: "create", Resource: "pods", Way: apitest.Requests, Latency: 20 * time.Millisecond})
		c, stop := start(t, srv, 1)
		synctest.Wait()
		stats := c.queue.Stats()
		assert.Equal(t, 1, stats.InFlight)
		assert.Equal(t, owners-1, stats.Waiting)
		stop()
		late.Remove()
		for i := range owners {
			assert.Len(t, podsOf(t, srv, fmt.Sprint("web-", i)), 2)
		}
		assert.Equal(t, 2*owners, srv.Requests("create", "pods"))
	})
}
