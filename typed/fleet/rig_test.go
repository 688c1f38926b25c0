package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

type inCluster = fleet.InCluster[*corev1.Pod]

// at returns a Pod of the namespace ns.
func at(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(version), Labels: map[string]string{"name": name},
	}}
}

// script is the source of a cluster, whose reports the test makes itself.
type script struct {
	cluster fleet.Cluster
	ctx     context.Context // of Run
	sink    source.Sink[*corev1.Pod]
	end     chan error
	started chan struct{}
}

func (s *script) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	s.ctx, s.sink = ctx, sink
	close(s.started)
	select {
	case err := <-s.end:
		return err
	case <-ctx.Done():
		return nil
	}
}

// world is an informer over a set of clusters whose sources are scripts.
type world struct {
	logger klog.Logger // of the informer
	*typed.Informer[inCluster]
	t        *testing.T
	clusters *fleet.Clusters
	source   *fleet.Source[*corev1.Pod]
	complain assert.TestingT // about events that do not follow from those before
	stop     context.CancelFunc

	mu      sync.Mutex
	scripts map[string][]*script // guarded by mu; of each cluster, the latest last
	events  []string             // guarded by mu
	told    map[index.Key]inCluster
}

// newWorld starts an informer over clusters, in a bubble.
func newWorld(t *testing.T, clusters []string, opts ...fleet.Option) *world {
	w := prepareWorld(t, clusters, opts...)
	w.start()
	return w
}

func prepareWorld(t *testing.T, clusters []string, opts ...fleet.Option) *world {
	w := &world{t: t, complain: t, clusters: &fleet.Clusters{}, scripts: map[string][]*script{}, told: map[index.Key]inCluster{}, logger: klog.Background()}
	for _, name := range clusters {
		require.NoError(t, w.clusters.Add(fleet.Cluster{Name: name}))
	}
	w.source = fleet.NewSource(w.clusters, w.open, opts...)
	w.Informer = typed.NewInformer(w.source)
	return w
}

// start runs the informer until the test ends, and writes its events down.
func (w *world) start() {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), w.logger))
	w.stop = cancel
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(w.t, w.Run(ctx)) })
	running.Go(func() {
		for e := range w.Events(ctx).All() {
			w.note(e)
		}
	})
	w.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	synctest.Wait()
}

func (w *world) open(c fleet.Cluster) source.Source[*corev1.Pod] {
	s := &script{cluster: c, end: make(chan error, 1), started: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scripts[c.Name] = append(w.scripts[c.Name], s)
	return s
}

// note writes an event down, and plays it back.
func (w *world) note(e typed.Event[inCluster]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf("%v %v %v@%s", e.Type, e.Reason, e.New, e.New.GetResourceVersion()))
	switch e.Type {
	case index.Added:
		assert.NotContains(w.complain, w.told, e.Key())
		w.told[e.Key()] = e.New
	case index.Updated:
		assert.Equal(w.complain, w.told[e.Key()], e.Old)
		w.told[e.Key()] = e.New
	case index.Deleted:
		assert.Equal(w.complain, w.told[e.Key()], e.Old)
		delete(w.told, e.Key())
	}
}

// of returns the sink of a cluster.
func (w *world) of(cluster string) source.Sink[*corev1.Pod] { return w.scriptOf(cluster).sink }

func (w *world) scriptOf(cluster string) *script {
	synctest.Wait()
	w.mu.Lock()
	all := w.scripts[cluster]
	w.mu.Unlock()
	require.NotEmpty(w.t, all, cluster)
	last := all[len(all)-1]
	<-last.started
	return last
}

// list delivers a list of a cluster.
func (w *world) list(cluster string, version int, objs ...*corev1.Pod) {
	sinktest.Replace(w.of(cluster), "", objs, strconv.Itoa(version))
}

// next returns the events since the last time, sorted, when everything has come to rest.
func (w *world) next() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	events := slices.Sorted(slices.Values(w.events))
	w.events = nil
	return events
}

// keys returns the keys of the informer's objects, sorted.
func (w *world) keys() []string {
	synctest.Wait()
	var keys []string
	for obj := range w.All() {
		keys = append(keys, fmt.Sprintf("%v@%s", obj, obj.GetResourceVersion()))
	}
	slices.Sort(keys)
	return keys
}

// isSynced reports whether the informer has synced.
func (w *world) isSynced() bool {
	synctest.Wait()
	return w.Phase() == report.PhaseSynced
}

// status returns the status of a cluster.
func (w *world) status(cluster string) fleet.ClusterStatus {
	synctest.Wait()
	s, ok := w.source.StatusOf(cluster)
	require.True(w.t, ok)
	return s
}
