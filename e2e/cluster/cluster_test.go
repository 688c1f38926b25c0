package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// One cluster for all of the promises, since a start takes seconds. The steps
// build on each other.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	// Given a cluster whose ConfigMaps are read from etcd, not from a cache.
	c, err := Start(ctx, WithProgress(t.Output()), WithAPIServerFlags("--watch-cache-sizes=configmaps#0"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Stop()) })
	client, err := kubernetes.NewForConfig(c.Config())
	require.NoError(t, err)

	steps := []struct {
		name string
		test func(*testing.T, *Cluster, kubernetes.Interface)
	}{
		{"ServesReadsWritesAndWatches", testServes},
		{"KubeconfigReachesIt", testKubeconfig},
		{"CompactEndsOldWatches", testCompact},
		{"RestartKeepsAddressCredentialsAndData", testRestart},
		{"KillCutsConnections", testKill},
		{"StopLeavesNothing", testStop},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.test(t, c, client) }) {
			return
		}
	}
}

func testServes(t *testing.T, _ *Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)

	created, err := pods.Create(ctx, newPod("kept"), metav1.CreateOptions{})
	require.NoError(t, err)
	list, err := pods.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, created.UID, list.Items[0].UID)

	watcher, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer watcher.Stop()
	created.Labels = map[string]string{"step": "update"}
	updated, err := pods.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	event := next(t, watcher)
	assert.Equal(t, watch.Modified, event.Type)
	assert.Equal(t, updated, event.Object)
}

func testKubeconfig(t *testing.T, c *Cluster, _ kubernetes.Interface) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, c.WriteKubeconfig(path))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)

	_, err = client.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceDefault, metav1.GetOptions{})
	assert.NoError(t, err)

	content, err := c.Kubeconfig()
	require.NoError(t, err)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, written, content)
}

func testCompact(t *testing.T, c *Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	// Given a version after which there were changes, and which is still known.
	first, err := maps.Create(ctx, newConfigMap("first"), metav1.CreateOptions{})
	require.NoError(t, err)
	for _, name := range []string{"second", "third"} {
		_, err := maps.Create(ctx, newConfigMap(name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	old := metav1.ListOptions{ResourceVersion: first.ResourceVersion}
	before, err := maps.Watch(ctx, old)
	require.NoError(t, err)
	defer before.Stop()
	require.Equal(t, watch.Added, next(t, before).Type)

	revision, err := c.Compact(ctx)
	require.NoError(t, err)
	assert.Positive(t, revision)

	// Then that version is gone, and the data are not.
	after, err := maps.Watch(ctx, old)
	require.NoError(t, err)
	defer after.Stop()
	event := next(t, after)
	require.Equal(t, watch.Error, event.Type)
	err = apierrors.FromObject(event.Object)
	assert.True(t, apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "%v", err)
	_, err = maps.Get(ctx, "first", metav1.GetOptions{})
	assert.NoError(t, err)
}

func testRestart(t *testing.T, c *Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	config, pid := c.Config(), c.apiserver.cmd.Process.Pid
	before, err := pods.Get(ctx, "kept", metav1.GetOptions{})
	require.NoError(t, err)
	// Given an open watch, which must not hold the stop for long.
	watcher, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	require.NoError(t, err)
	defer watcher.Stop()

	begin := time.Now()
	require.NoError(t, c.Restart(ctx))
	t.Logf("restarted in %v", time.Since(begin))

	assert.Equal(t, config, c.Config())
	assert.NotEqual(t, pid, c.apiserver.cmd.Process.Pid)
	_, open := <-watcher.ResultChan()
	assert.False(t, open, "the watch outlived its server")
	after, err := pods.Get(ctx, "kept", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, before, after)
	_, err = pods.Create(ctx, newPod("after-restart"), metav1.CreateOptions{})
	assert.NoError(t, err)
}

func testKill(t *testing.T, c *Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	killed := c.apiserver

	require.NoError(t, c.Kill())

	assert.ErrorIs(t, killed.cmd.Process.Signal(os.Interrupt), os.ErrProcessDone)
	_, err := net.Dial("tcp", c.address())
	assert.Error(t, err, "somebody still listens")
	assert.NoError(t, c.Kill(), "killed twice")
	_, err = c.Compact(ctx)
	assert.NoError(t, err, "etcd is down too")

	require.NoError(t, c.Restart(ctx))
	_, err = pods.Get(ctx, "after-restart", metav1.GetOptions{})
	assert.NoError(t, err)
}

func testStop(t *testing.T, c *Cluster, _ kubernetes.Interface) {
	ctx := t.Context()
	apiserver, etcd := c.apiserver, c.etcd
	require.DirExists(t, c.dir)

	begin := time.Now()
	require.NoError(t, c.Stop())
	t.Logf("stopped in %v", time.Since(begin))

	for _, p := range []*process{apiserver, etcd} {
		assert.ErrorIs(t, p.cmd.Process.Signal(os.Interrupt), os.ErrProcessDone, p.name)
	}
	assert.NoDirExists(t, c.dir)
	assert.NoError(t, c.Stop(), "stopped twice")
	assert.ErrorIs(t, c.Kill(), ErrStopped)
	assert.ErrorIs(t, c.Restart(ctx), ErrStopped)
	_, err := c.Compact(ctx)
	assert.ErrorIs(t, err, ErrStopped)
}

// next returns the next event of a watch, which must come within seconds.
func next(t *testing.T, watcher watch.Interface) watch.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	select {
	case event, open := <-watcher.ResultChan():
		require.True(t, open, "the watch ended")
		return event
	case <-ctx.Done():
		require.Fail(t, "no event")
		return watch.Event{}
	}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause"}}},
	}
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
