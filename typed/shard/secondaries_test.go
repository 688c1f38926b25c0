package shard_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// TestSecondariesAreWithTheirPrimaries: a reconcile of a ConfigMap finds the Secrets that it owns
// with the same member, even after a member has left, and not without them.
func TestSecondariesAreWithTheirPrimaries(t *testing.T) {
	for name, hashes := range map[string][2]shard.Hash{
		"by key": {shard.Key(), shard.OwnerKey()},
		"by UID": {shard.UID(), shard.OwnerUID()},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) { testSecondaries(t, hashes[0], hashes[1]) })
		})
	}
}

const secretsEach = 3

func testSecondaries(t *testing.T, primary, secondary shard.Hash) {
	srv := apitest.Start(t)
	for i := range 40 {
		require.NoError(t, srv.Create(t.Context(), configMap(i)))
	}
	owners, err := rigList(srv)
	require.NoError(t, err)
	for _, owner := range owners {
		for n := range secretsEach {
			require.NoError(t, srv.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: owner.Namespace, Name: fmt.Sprintf("secret-%d-of-%s", n, owner.Name),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
			}}))
		}
	}
	f := &findings{calls: map[index.Key]int{}}
	stop := f.start(t, srv, "a", primary, secondary)
	f.start(t, srv, "b", primary, secondary)
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.Len(t, f.check(t), 40)
	require.NoError(t, stop())
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.NotEmpty(t, f.check(t), "what the other one had")
}

// findings is how many Secrets reconciles have found.
type findings struct {
	mu    sync.Mutex
	calls map[index.Key]int
	wrong []string
}

// check returns the calls since the last check.
func (f *findings) check(t *testing.T) (calls map[index.Key]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	assert.Empty(t, f.wrong)
	calls, f.calls = f.calls, map[index.Key]int{}
	return calls
}

// start runs a member that looks for the Secrets of its ConfigMaps.
func (f *findings) start(t *testing.T, srv *apitest.Server, name string, primary, secondary shard.Hash) (stop func() error) {
	group, err := shard.New(srv.Config(), "kube-system", "maps", shard.WithIdentity(name), shard.WithHash(primary))
	require.NoError(t, err)
	share := shard.NewSource(group, func() source.Source[*corev1.ConfigMap] { return kube.FromREST[*corev1.ConfigMap](srv.Config()) })
	maps := typed.NewInformer(share)
	secrets := typed.NewInformer(shard.NewSource(group, func() source.Source[*corev1.Secret] { return kube.FromREST[*corev1.Secret](srv.Config()) },
		shard.BySame[*corev1.Secret](secondary)))
	byOwner := index.Single("owner", func(s *corev1.Secret) (string, bool) { return s.OwnerReferences[0].Name, true })
	require.NoError(t, secrets.AddIndexes(byOwner))
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	_, err = maps.Handle(control.Enqueue[*corev1.ConfigMap](q))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { assert.Positive(t, maps.Status().Traffic.Bytes, "what is received is counted") })
	ended := make(chan error, 1)
	reconcile := share.Reconcile(func(_ context.Context, key index.Key) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls[key]++
		if n := byOwner.Len(key.Name); n != secretsEach {
			f.wrong = append(f.wrong, fmt.Sprintf("%s finds %d Secrets of %s", name, n, key))
		}
		return nil
	})
	go func() {
		ended <- control.Run(ctx, control.WithInformers(group, maps, secrets), control.WithWorkers(q, 2, reconcile))
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { assert.NoError(t, stop()) })
	return stop
}
