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

// replica is a process that reconciles its part of the ConfigMaps.
type replica struct {
	name   string
	group  *shard.Group
	source *shard.Source[*corev1.ConfigMap]
	maps   *typed.Informer[*corev1.ConfigMap]
	stop   func() error

	mu      sync.Mutex
	reasons map[string]int // of deletions
}

// ledger is what all replicas write to.
type ledger struct {
	mu    sync.Mutex
	at    map[index.Key]string          // who is at work on a key
	seen  map[index.Key]map[string]bool // the versions that were reconciled, "" for none
	wrong []string
}

func (l *ledger) enter(name string, key index.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.at[key]; other != "" {
		l.wrong = append(l.wrong, fmt.Sprintf("%s and %s at %s", name, other, key))
	}
	l.at[key] = name
}

func (l *ledger) leave(key index.Key, version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.at, key)
	if l.seen[key] == nil {
		l.seen[key] = map[string]bool{}
	}
	l.seen[key][version] = true
}

// selecting makes the sources of a server that selects by hash ranges, or of one that does not.
type selecting func(srv *apitest.Server) func() source.Source[*corev1.ConfigMap]

func ignoring(srv *apitest.Server) func() source.Source[*corev1.ConfigMap] {
	return func() source.Source[*corev1.ConfigMap] { return kube.FromREST[*corev1.ConfigMap](srv.Config()) }
}

func start(t *testing.T, srv *apitest.Server, l *ledger, name string, hash shard.Hash, sel selecting) *replica {
	r := &replica{name: name, reasons: map[string]int{}}
	var err error
	r.group, err = shard.New(srv.Config(), "kube-system", "maps", shard.WithIdentity(name), shard.WithHash(hash))
	require.NoError(t, err)
	r.source = shard.NewSource(r.group, sel(srv))
	r.maps = typed.NewInformer(r.source)
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	_, err = r.maps.Handle(control.Enqueue[*corev1.ConfigMap](q))
	require.NoError(t, err)
	_, err = r.maps.Handle(typed.HandlerFuncs[*corev1.ConfigMap]{DeleteFunc: func(d typed.Deleted[*corev1.ConfigMap]) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reasons[d.Reason.String()]++
	}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- control.Run(ctx, control.WithInformers(r.group, r.maps),
			control.WithWorkers(q, 4, r.source.Reconcile(func(ctx context.Context, key index.Key) error {
				l.enter(name, key)
				time.Sleep(10 * time.Millisecond)
				version := ""
				if obj, ok := r.maps.Get(key); ok {
					version = obj.ResourceVersion
				}
				l.leave(key, version)
				return nil
			})))
	}()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = r.stop() })
	return r
}

func configMap(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns-%d", i%7), Name: fmt.Sprintf("map-%d", i)}}
}

// check checks that each object is kept by one replica, and was reconciled in its last
// state.
func check(t *testing.T, srv *apitest.Server, l *ledger, exclusive bool, replicas ...*replica) {
	t.Helper()
	list, err := rigList(srv)
	require.NoError(t, err)
	for _, r := range replicas {
		t.Log(r.name, r.group.Status(), r.source.Status(), r.maps.Len())
	}
	kept := 0
	for _, r := range replicas {
		kept += r.maps.Len()
	}
	assert.Equal(t, len(list), kept)
	l.mu.Lock()
	defer l.mu.Unlock()
	if exclusive {
		assert.Empty(t, l.wrong)
	}
	stale := 0
	for _, obj := range list {
		owners := 0
		for _, r := range replicas {
			if got, ok := r.maps.Get(index.KeyOf(obj)); ok && got.ResourceVersion == obj.ResourceVersion {
				owners++
			}
		}
		assert.Equal(t, 1, owners, obj.Name)
		if !l.seen[index.KeyOf(obj)][obj.ResourceVersion] {
			stale++
		}
	}
	assert.Zero(t, stale, "objects were not reconciled in their last state")
}

// TestReplicas: three replicas share the objects, whatever they are shared by, while they
// come, change and go; one leaves, one joins.
func TestReplicas(t *testing.T) {
	for name, sel := range map[string]selecting{"filtered here": ignoring, "filtered by the server": obeying} {
		for _, hash := range []shard.Hash{shard.UID(), shard.Key(), shard.Namespace(), shard.Label("color")} {
			t.Run(name+" by "+hash.String(), func(t *testing.T) {
				rig.InBubble(t, func(t *testing.T) { testReplicas(t, hash, sel) })
			})
		}
	}
}

func testReplicas(t *testing.T, hash shard.Hash, sel selecting) {
	srv := apitest.Start(t)
	// Where objects of a key may belong to several members, so may work on the key.
	exclusive := hash.String() == "Key" || hash.String() == "Namespace"
	l := &ledger{at: map[index.Key]string{}, seen: map[index.Key]map[string]bool{}}
	for i := range 60 {
		require.NoError(t, srv.Create(t.Context(), configMap(i)))
	}
	a, b, c := start(t, srv, l, "a", hash, sel), start(t, srv, l, "b", hash, sel), start(t, srv, l, "c", hash, sel)
	time.Sleep(time.Minute)
	synctest.Wait()
	check(t, srv, l, exclusive, a, b, c)

	busy := make(chan struct{})
	go func() {
		defer close(busy)
		churn(t, srv)
	}()
	time.Sleep(3 * time.Second)
	require.NoError(t, b.stop())
	d := start(t, srv, l, "d", hash, sel)
	time.Sleep(20 * time.Second)
	require.NoError(t, a.stop())
	e := start(t, srv, l, "e", hash, sel)
	<-busy
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	check(t, srv, l, exclusive, c, d, e)
	last, err := rigList(srv)
	require.NoError(t, err)
	require.NotEmpty(t, last)
	for _, obj := range last {
		require.NoError(t, srv.Delete(t.Context(), obj))
	}
	time.Sleep(10 * time.Second)
	synctest.Wait()
	check(t, srv, l, exclusive, c, d, e)
	for _, obj := range last {
		assert.True(t, l.seen[index.KeyOf(obj)][""], "%s is gone, and was not reconciled", obj.Name)
	}
	assert.Equal(t, []string{"c", "d", "e"}, c.group.Status().Members)
	t.Log(c.group.Status(), c.source.Status(), c.reasons)
	for _, r := range []*replica{c, d, e} {
		assert.NoError(t, r.stop())
	}
}

// churn writes for half a minute.
func churn(t *testing.T, srv *apitest.Server) {
	for i := range 600 {
		obj := configMap(i % 90)
		obj.Labels = map[string]string{"color": fmt.Sprint(i % 11)}
		switch {
		case i < 500 && i%90 >= 60 && i < 90, i%13 == 0:
			_ = srv.Create(t.Context(), obj)
		case i%7 == 0:
			_ = srv.Delete(t.Context(), obj)
		case i%5 == 0: // another UID
			_ = srv.Delete(t.Context(), obj)
			_ = srv.Create(t.Context(), obj)
		default:
			_ = srv.Update(t.Context(), obj)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
