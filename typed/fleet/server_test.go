package fleet_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// servers are API servers, a cluster each, and an informer of their Pods.
type servers struct {
	*typed.Informer[inCluster]
	byName    map[string]*apitest.Server
	clusters  *fleet.Clusters
	source    *fleet.Source[*corev1.Pod]
	histories map[string]*history.History[inCluster]
}

// serve starts servers with some Pods each, and an informer of them.
func serve(t *testing.T, pods int, names []string, opts ...fleet.Option) *servers {
	s := &servers{byName: map[string]*apitest.Server{}, clusters: &fleet.Clusters{}, histories: map[string]*history.History[inCluster]{}}
	for _, name := range names {
		srv := apitest.Start(t)
		s.byName[name] = srv
		for i := range pods {
			require.NoError(t, srv.Create(t.Context(), rig.NewPod(fmt.Sprintf("pod-%d", i), "node")))
		}
		require.NoError(t, s.clusters.Add(fleet.Cluster{Name: name, Config: srv.Config()}))
		s.histories[name] = history.New[inCluster]()
	}
	s.source = fleet.NewSource(s.clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) }, opts...)
	s.Informer = typed.NewInformer(s.source)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, s.Run(ctx)) })
	running.Go(func() {
		for e := range s.Events(ctx).All() {
			s.histories[e.New.Cluster()].Record(e)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		for name, h := range s.histories {
			assert.NoError(t, h.Err(), name)
		}
	})
	return s
}

// check compares the informer's objects of a cluster, and the events of its handler, with the
// server.
func (s *servers) check(t *testing.T, cluster string) {
	t.Helper()
	synctest.Wait()
	client, err := rig.NewClient(s.byName[cluster].Config())
	require.NoError(t, err)
	list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := []inCluster{}
	for i := range list.Items {
		want = append(want, fleet.In(cluster, &list.Items[i]))
	}
	var have []inCluster
	for pod := range s.All() {
		if pod.Cluster() == cluster {
			have = append(have, pod)
		}
	}
	assert.Empty(t, history.Diff("server", want, "informer", have))
	assert.Empty(t, s.histories[cluster].Undead(want))
}

// TestAClusterIsCutOffAndBack: its objects stay meanwhile, the other clusters continue, and when it
// is back nothing is missing.
func TestAClusterIsCutOffAndBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := serve(t, 5, []string{"east", "north", "west"})
		require.NoError(t, s.source.WaitForSync(t.Context()))
		assert.Equal(t, 15, s.Len())
		west := s.byName["west"]
		west.Inject(apitest.Fault{Open: true, End: apitest.Reset})
		refused := west.Inject(apitest.Fault{End: apitest.Reset})
		synctest.Wait()
		for _, srv := range s.byName {
			require.NoError(t, srv.Create(t.Context(), rig.NewPod("new", "node")))
			require.NoError(t, srv.Delete(t.Context(), rig.NewPod("pod-0", "")))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		status, _ := s.source.StatusOf("west")
		assert.Equal(t, fleet.PhaseStale, status.Phase)
		assert.Equal(t, 5, status.Objects)
		assert.Error(t, status.Err)
		assert.Equal(t, 10*time.Minute, time.Since(status.Since))
		for _, name := range []string{"east", "north"} {
			status, _ := s.source.StatusOf(name)
			assert.Equal(t, fleet.PhaseSynced, status.Phase)
			assert.NoError(t, status.Err)
		}
		_, stale := s.Get(fleet.Key("west", "default", "pod-0"))
		assert.True(t, stale)
		s.check(t, "east")
		s.check(t, "north")

		refused.Remove()
		time.Sleep(2 * time.Minute)
		s.check(t, "west")
		status, _ = s.source.StatusOf("west")
		assert.Equal(t, fleet.PhaseSynced, status.Phase)
		assert.NoError(t, s.Status().Err)
	})
}

// TestAServerThatDoesNotAnswer holds up the first sync for the time of patience.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		east, west := apitest.Start(t, apitest.WithObjects(rig.NewPod("a", "node"))), apitest.Start(t)
		frozen := west.Inject(apitest.Fault{Freeze: true})
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: east.Config()}, fleet.Cluster{Name: "west", Config: west.Config()})
		require.NoError(t, err)
		src := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) })
		informer := typed.NewInformer(src)
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error { return informer.Run(ctx) })
		begun := time.Now()
		require.NoError(t, informer.WaitForSync(ctx))
		assert.Equal(t, 10*time.Second, time.Since(begun))
		assert.Equal(t, 1, informer.Len())
		frozen.Remove()
		require.NoError(t, src.WaitForSync(ctx, "west"))
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestReadYourWritesPerCluster with servers, whose versions are far apart.
func TestReadYourWritesPerCluster(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := serve(t, 3, []string{"east", "west"})
		require.NoError(t, s.WaitForSync(t.Context()))
		for i := range 20 {
			require.NoError(t, s.byName["west"].Create(t.Context(), rig.NewPod(fmt.Sprint("more-", i), "node")))
		}
		for name, srv := range s.byName {
			client, err := rig.NewClient(srv.Config())
			require.NoError(t, err)
			pod, err := client.CoreV1().Pods("default").Create(t.Context(), rig.NewPod("written", "node"), metav1.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, s.source.WaitForResourceVersion(t.Context(), name, pod.ResourceVersion))
			got, ok := s.Get(fleet.Key(name, "default", "written"))
			require.True(t, ok)
			assert.Equal(t, pod.UID, got.GetUID())
		}
	})
}

// TestEqualPartsAreOne: identical parts of objects are one value, even across clusters, and so are
// parts that an update does not change.
func TestEqualPartsAreOne(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		clusters := []string{"east", "north", "west"}
		s := serve(t, 0, clusters)
		pod := func(name string) *corev1.Pod {
			pod := rig.NewPod(name, "")
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists, Value: "fleet"}}
			return pod
		}
		get := func(cluster, name string) *corev1.Pod {
			obj, ok := s.Get(fleet.Key(cluster, "default", name))
			require.True(t, ok)
			return obj.Object
		}
		// The third object is deduplicated, unless other tests have just made the table of values
		// seen grow.
		name, areOne := "", false
		for i := 0; i < 8 && !areOne; i++ {
			name = fmt.Sprint("a-", i)
			for _, cluster := range clusters {
				require.NoError(t, s.byName[cluster].Create(t.Context(), pod(name)))
				synctest.Wait()
			}
			areOne = &get("west", name).Spec.Tolerations[0] == &get("north", name).Spec.Tolerations[0]
		}
		require.True(t, areOne, "in two clusters")
		before := get("west", name)
		require.NoError(t, s.byName["west"].Update(t.Context(), labelled(pod(name), "changed")))
		synctest.Wait()
		after := get("west", name)
		require.NotSame(t, before, after)
		assert.Equal(t, "changed", after.Labels["state"])
		assert.Same(t, &before.Spec.Tolerations[0], &after.Spec.Tolerations[0], "before and after an update")
	})
}

// TestUpdatesShareWithTheStateBefore: what no other object has either, the next state of an
// object shares with the one before, which is found by the key in its cluster.
func TestUpdatesShareWithTheStateBefore(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := serve(t, 0, []string{"east"})
		srv := s.byName["east"]
		pod := rig.NewPod("a", "")
		pod.Annotations = map[string]string{"unique": "once in the world"}
		require.NoError(t, srv.Create(t.Context(), pod.DeepCopy()))
		synctest.Wait()
		before, _ := s.Get(fleet.Key("east", "default", "a"))
		require.NoError(t, srv.Update(t.Context(), labelled(pod, "changed")))
		synctest.Wait()
		after, _ := s.Get(fleet.Key("east", "default", "a"))
		assert.Equal(t, "changed", after.GetLabels()["state"])
		assert.Equal(t, reflect.ValueOf(before.GetAnnotations()).Pointer(), reflect.ValueOf(after.GetAnnotations()).Pointer())
		assert.Positive(t, s.Status().Traffic.Bytes, "what clusters send is counted")
	})
}

func labelled(pod *corev1.Pod, state string) *corev1.Pod {
	pod.Labels["state"] = state
	return pod
}
