package fleet

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

const namespace = metav1.NamespaceDefault

// member is a cluster, and a client of it.
type member struct {
	*cluster.Cluster
	maps clientcorev1.ConfigMapInterface
}

// start starts the clusters, until the test ends.
func start(t *testing.T, names ...string) map[string]*member {
	members := make(map[string]*member, len(names))
	group, ctx := errgroup.WithContext(t.Context())
	for _, name := range names {
		m := &member{}
		members[name] = m
		group.Go(func() (err error) {
			m.Cluster, err = cluster.Start(ctx)
			return err
		})
	}
	err := group.Wait()
	t.Cleanup(func() {
		for _, m := range members {
			if m.Cluster != nil {
				assert.NoError(t, m.Stop())
			}
		}
	})
	require.NoError(t, err)
	for _, m := range members {
		client, err := kubernetes.NewForConfig(m.Config())
		require.NoError(t, err)
		m.maps = client.CoreV1().ConfigMaps(namespace)
	}
	return members
}

// write makes or changes a ConfigMap, and returns the version of the write.
func (m *member) write(t *testing.T, name, value string) (version string) {
	t.Helper()
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	written, err := m.maps.Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		written, err = m.maps.Update(t.Context(), obj, metav1.UpdateOptions{})
	}
	require.NoError(t, err)
	return written.ResourceVersion
}

// state returns the values of the ConfigMaps of a cluster, by their keys in the fleet.
func (m *member) state(t *testing.T, name string) map[index.Key]string {
	t.Helper()
	list, err := m.maps.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	state := map[index.Key]string{}
	for i := range list.Items {
		state[fleet.Key(name, namespace, list.Items[i].Name)] = list.Items[i].Data["value"]
	}
	return state
}

// TestFleet: an informer of three clusters has the objects of all of them, also while one
// is down, and after one has left.
func TestFleet(t *testing.T) {
	members := start(t, "east", "north", "west")
	all, err := fleet.NewClusters()
	require.NoError(t, err)
	for name, m := range members {
		for i := range 20 {
			m.write(t, fmt.Sprint("map-", i), name)
		}
		require.NoError(t, all.Add(fleet.Cluster{Name: name, Config: m.Config()}))
	}
	src := fleet.NewSource(all, func(c fleet.Cluster) source.Source[*corev1.ConfigMap] {
		return kube.FromREST[*corev1.ConfigMap](c.Config, kube.WithNamespace(namespace))
	})
	informer := typed.NewInformer(src)
	told := history.New[fleet.InCluster[*corev1.ConfigMap]]()
	_, err = informer.Handle(told)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return informer.Run(ctx) })
	require.NoError(t, src.WaitForSync(ctx))
	state := func() map[index.Key]string {
		now := map[index.Key]string{}
		for obj := range informer.All() {
			now[index.KeyOf(obj)] = obj.Object.Data["value"]
		}
		return now
	}
	want := map[index.Key]string{}
	for name, m := range members {
		maps.Copy(want, m.state(t, name))
	}
	assert.Len(t, want, 60)
	assert.Equal(t, want, state())

	// One is down: its objects stay, marked as stale, and the others continue.
	require.NoError(t, members["east"].Kill())
	require.Eventually(t, func() bool {
		east, _ := src.StatusOf("east")
		return east.Phase == fleet.PhaseStale
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, src.WaitForResourceVersion(ctx, "west", members["west"].write(t, "map-0", "changed")))
	want[fleet.Key("west", namespace, "map-0")] = "changed"
	assert.Equal(t, want, state())
	require.ErrorContains(t, informer.Status().LastErr, "east")

	// It comes back, and has changed meanwhile.
	require.NoError(t, members["east"].Restart(ctx))
	version := members["east"].write(t, "map-1", "changed")
	require.NoError(t, src.WaitForResourceVersion(ctx, "east", version))
	want[fleet.Key("east", namespace, "map-1")] = "changed"
	assert.Equal(t, want, state())
	require.Eventually(t, func() bool {
		east, _ := src.StatusOf("east")
		return east.Phase == fleet.PhaseSynced && east.Err == nil
	}, time.Minute, 10*time.Millisecond)

	// One leaves: its objects go, without events of deletions.
	all.Remove("north")
	maps.DeleteFunc(want, func(key index.Key, _ string) bool {
		name, _ := fleet.Split(key)
		return name == "north"
	})
	require.Eventually(t, func() bool { return informer.Len() == len(want) }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, want, state())
	cancel()
	require.NoError(t, group.Wait())
	require.NoError(t, told.Err())
	assert.Empty(t, history.Diff("informer", informer.List(), "handler", told.Objects()))
	for name, m := range members {
		list, err := m.maps.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		var there []fleet.InCluster[*corev1.ConfigMap]
		for i := range list.Items {
			there = append(there, fleet.In(name, &list.Items[i]))
		}
		assert.Empty(t, told.Undead(there))
	}
}
