package references

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/workload"
	"github.com/kubetyped/informer/index"
)

var followed = flag.Int("followed", 500, "how many Secrets are followed while the API server restarts")

// TestRestart: many names need a connection for each hundred watches, none waits, and all are
// back after a restart of the API server, with few requests each.
func TestRestart(t *testing.T) {
	cluster := server.Cluster(t)
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	namespace := server.Namespace(t)
	crew := workload.Crew{Workers: 16, Out: t.Output()}
	require.NoError(t, crew.Each(t.Context(), "create", "Secrets", *followed, func(ctx context.Context, i int) error {
		_, err := client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretName(i)}}, metav1.CreateOptions{})
		return err
	}))
	p := runProgram(t, server.Config())
	keys := make([]index.Key, *followed)
	for i := range keys {
		keys[i] = index.Key{Namespace: namespace, Name: secretName(i)}
	}
	begin := time.Now()
	require.NoError(t, p.source.Hold(index.Key{Name: "test"}, keys...))
	all := int64(*followed + 1) // with that of Ingresses
	back := func() bool { return p.traffic.Counts().Watches >= all && p.source.Status().Present == *followed }
	if !assert.Eventually(t, back, enough, 10*time.Millisecond) {
		require.FailNow(t, "not all are followed", "%+v, %+v", p.traffic.Counts(), p.source.Followed())
	}
	first := p.traffic.Counts()
	t.Logf("%d names: %s to sync, %+v", *followed, time.Since(begin).Round(time.Millisecond), first)
	assert.LessOrEqual(t, first.Connections, all/100+2, "connections")
	assert.LessOrEqual(t, first.Requests, 3*all, "requests")

	require.NoError(t, cluster.Kill())
	require.Eventually(t, func() bool { return p.traffic.Counts().Watches == 0 }, enough, 10*time.Millisecond)
	require.NoError(t, cluster.Restart(t.Context()))
	ready := time.Now()
	require.Eventually(t, back, enough, 10*time.Millisecond)
	counts := p.traffic.Counts()
	t.Logf("back %s after the API server, %d requests", time.Since(ready).Round(time.Millisecond), counts.Requests-first.Requests)
	assert.Zero(t, counts.Wide)
	assert.LessOrEqual(t, counts.Requests-first.Requests, 20*all, "requests")
	change(t, client, namespace, secretName(*followed-1))
	require.Eventually(t, func() bool { return p.stampOf(keys[*followed-1]) != "" }, enough, 10*time.Millisecond)
	assert.Empty(t, p.source.Status().Refused)
}
