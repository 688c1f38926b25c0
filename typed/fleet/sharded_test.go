package fleet_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// each is how many objects a cluster has.
const each = 40

// replica is a process with one shard of the ConfigMaps of each cluster, packed, by a shard group
// there.
type replica struct {
	name string
	maps *typed.Informer[fleet.InCluster[*packedMap]]
	stop func()

	mu      sync.Mutex
	shares  map[string]share        // guarded by mu; by cluster
	reasons map[index.Reason]int    // guarded by mu; of events
	relists map[index.EventType]int // guarded by mu; events of lists, by their type
}

// share is a source of a replica's shard of a cluster, which runs its group while it runs itself.
type share struct {
	*shard.Source[*packedMap]
	group *shard.Group
}

func newShare(t *testing.T, c fleet.Cluster, replica string) share {
	group, err := shard.New(c.Config, "kube-system", "maps", shard.WithIdentity(replica), shard.WithHash(shard.Key()))
	require.NoError(t, err)
	src := shard.NewSource(group, func() source.Source[*packedMap] { return kube.FromREST[*packedMap](c.Config) })
	src.Reconcile(nil)
	return share{src, group}
}

func (s share) Run(ctx context.Context, sink source.Sink[*packedMap]) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.group.Run(ctx) })
	both.Go(func() error { return s.Source.Run(ctx, sink) })
	return both.Wait()
}

func (r *replica) open(t *testing.T, c fleet.Cluster) source.Source[*packedMap] {
	s := newShare(t, c, r.name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shares[c.Name] = s
	return s
}

// count returns how many events there were of a reason.
func (r *replica) count(reason index.Reason) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reasons[reason]
}

// reconcile asks the part of the key's cluster whether the key may be worked on.
func (r *replica) reconcile(work func(ctx context.Context, key index.Key) error) func(ctx context.Context, key index.Key) error {
	return func(ctx context.Context, key index.Key) error {
		cluster, own := fleet.Split(key)
		r.mu.Lock()
		s := r.shares[cluster]
		r.mu.Unlock()
		return s.Reconcile(func(ctx context.Context, _ index.Key) error { return work(ctx, key) })(ctx, own)
	}
}

// journal notes the replica that processes each key, and the reconciled states.
type journal struct {
	mu    sync.Mutex
	at    map[index.Key]string // guarded by mu; who works on a key
	wrong []string             // guarded by mu; when two did
	done  map[index.Key]string // guarded by mu; what the last state was
}

func (j *journal) write(name string, key index.Key, state string) {
	j.mu.Lock()
	if other := j.at[key]; other != "" {
		j.wrong = append(j.wrong, fmt.Sprintf("%s and %s at %s", name, other, key))
	}
	j.at[key] = name
	j.mu.Unlock()
	took := 10 * time.Millisecond
	if len(key.Name) == len("map-0") {
		took = 5 * time.Second // longer than it takes others to come for its range
	}
	time.Sleep(took)
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.at, key)
	j.done[key] = state
}

func (j *journal) last(key index.Key) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[key]
}

func startReplica(t *testing.T, name string, clusters *fleet.Clusters, j *journal) *replica {
	r := &replica{name: name, shares: map[string]share{}, reasons: map[index.Reason]int{}, relists: map[index.EventType]int{}}
	r.maps = typed.NewInformer(fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*packedMap] { return r.open(t, c) }))
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	_, err = r.maps.Handle(control.Enqueue[fleet.InCluster[*packedMap]](q))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	events := r.maps.Events(ctx)
	running.Go(func() {
		for e := range events.All() {
			r.mu.Lock()
			r.reasons[e.Reason]++
			if e.Reason == index.Relisted {
				r.relists[e.Type]++
			}
			r.mu.Unlock()
		}
	})
	running.Go(func() {
		assert.NoError(t, control.Run(ctx, control.WithInformers(r.maps), control.WithWorkers(q, 2*each, r.reconcile(func(_ context.Context, key index.Key) error {
			obj, ok := r.maps.Get(key)
			assert.True(t, ok, "it was released before it was reconciled")
			whole, err := obj.Object.Object()
			assert.NoError(t, err)
			j.write(name, key, whole.Data["write"])
			return nil
		}))))
	})
	r.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(r.stop)
	return r
}

// configOf returns the configuration of a server for a replica.
func configOf(srv *apitest.Server, name string) *rest.Config {
	config := srv.Config()
	config.UserAgent = name
	return config
}

// TestPutOfASharedCluster: when a cluster is put again, objects that another replica now has are
// released, and new ones are acquired. Nothing looks deleted or created.
func TestPutOfASharedCluster(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		for i := range 2 * each {
			require.NoError(t, srv.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("map-", i)}}))
		}
		j := &journal{at: map[index.Key]string{}, done: map[index.Key]string{}}
		clusters := map[string]*fleet.Clusters{}
		replicas := map[string]*replica{}
		for _, name := range []string{"a", "b"} {
			set, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: configOf(srv, name)})
			require.NoError(t, err)
			clusters[name], replicas[name] = set, startReplica(t, name, set, j)
		}
		a, b := replicas["a"], replicas["b"]
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, 2*each, a.maps.Len()+b.maps.Len())
		for write := range 2 {
			acquired := a.count(index.Acquired)
			for i := range 10 {
				obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("map-", i)}, Data: map[string]string{"write": fmt.Sprint(write, i)}}
				require.NoError(t, srv.Update(t.Context(), obj))
			}
			time.Sleep(time.Second)
			away := srv.Inject(apitest.Fault{Resource: "leases", UserAgent: "a", Err: apierrors.NewServiceUnavailable("later")})
			require.NoError(t, clusters["a"].Put(fleet.Cluster{Name: "east", Config: configOf(srv, "a")}))
			time.Sleep(time.Minute) // the other replica takes all
			away.Remove()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			assert.Equal(t, 2*each, a.maps.Len()+b.maps.Len())
			assert.Greater(t, a.count(index.Acquired), acquired)
		}
		assert.NotZero(t, b.count(index.Released), "it gave ranges back")
		for name, r := range replicas {
			r.mu.Lock()
			assert.Zero(t, r.relists[index.Deleted], name)
			assert.Zero(t, r.relists[index.Added], name)
			r.mu.Unlock()
		}
		assert.Empty(t, j.wrong)
		a.stop()
		b.stop()
	})
}

// TestSharedClusters: two replicas divide the objects of two clusters, by a shard group in each.
// One cluster fails and comes back, and does not delay the other; one replica leaves.
func TestSharedClusters(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		servers := map[string]*apitest.Server{"east": apitest.Start(t), "west": apitest.Start(t)}
		clusters := &fleet.Clusters{}
		for name, srv := range servers {
			for i := range each {
				require.NoError(t, srv.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("map-", i)}}))
			}
			require.NoError(t, clusters.Add(fleet.Cluster{Name: name, Config: srv.Config()}))
		}
		j := &journal{at: map[index.Key]string{}, done: map[index.Key]string{}}
		writes := 0
		update := func(cluster, name string) (state string) {
			writes++
			state = fmt.Sprint(writes)
			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string]string{"write": state}}
			require.NoError(t, servers[cluster].Update(t.Context(), obj))
			return state
		}
		// write updates an object, and reports whether it was reconciled with that.
		write := func(cluster, name string) bool {
			state := update(cluster, name)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			return j.last(fleet.Key(cluster, "shop", name)) == state
		}

		a := startReplica(t, "a", clusters, j)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 2*each, a.maps.Len())
		b := startReplica(t, "b", clusters, j)
		for i := range 1500 {
			update("east", fmt.Sprint("map-", i%each))
			update("west", fmt.Sprint("map-", i%each))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 2*each, a.maps.Len()+b.maps.Len())
		assert.InDelta(t, each, a.count(index.Released), each/2)
		for _, r := range []*replica{a, b} {
			for cluster := range servers {
				kept := 0
				for o := range r.maps.All() {
					if o.Cluster() == cluster {
						kept++
					}
				}
				assert.InDelta(t, each/2, kept, each/4, "%s has about half of %s", r.name, cluster)
			}
		}
		for i := range 8 {
			require.True(t, write("east", fmt.Sprint("map-", 5*i)))
		}

		down := servers["west"].Inject(apitest.Fault{Err: apierrors.NewServiceUnavailable("it is down")})
		time.Sleep(2 * time.Minute)
		for i := range 8 {
			require.True(t, write("east", fmt.Sprint("map-", 5*i)), "west holds up east")
		}
		down.Remove()
		time.Sleep(2 * time.Minute)
		for i := range 8 {
			require.True(t, write("west", fmt.Sprint("map-", 5*i)))
		}

		acquired := b.count(index.Acquired)
		a.stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 2*each, b.maps.Len())
		assert.InDelta(t, each, b.count(index.Acquired)-acquired, each/2)
		for cluster := range servers {
			assert.True(t, write(cluster, "map-1"))
		}
		assert.Empty(t, j.wrong)
		b.stop()
	})
}
