package peers

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
	"github.com/kubetyped/informer/index"
)

// The tests below show on a small cluster that all caches do the same work.

// TestPeersReadTheSame compares what the caches find after a first list and
// after updates.
func TestPeersReadTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	pods := c.Pods(1)
	events := c.Updates(c.Size + c.Size/2)
	later := versionsOf(pods)
	for _, event := range events {
		maps.Copy(later, versionsOf([]*corev1.Pod{cluster.PodOf(event)}))
	}
	for _, p := range readPeers {
		t.Run(p.impl, func(t *testing.T) {
			d := delivery.New(1)
			from := newSource(pods)
			started := p.start(t, from, metered(d)...)
			defer started.stop()
			compareReads(t, c, versionsOf(pods), started)
			d.Send(from.Events, events, len(events))
			compareReads(t, c, later, started)
		})
	}
}

// compareReads checks that got has the Pods of c, of which want has the versions.
func compareReads(t *testing.T, c *cluster.Cluster, want map[index.Key]string, got podCache) {
	t.Helper()
	pods := c.Pods(1)
	apps, nodes, namespaces := map[string][]*corev1.Pod{}, map[string][]*corev1.Pod{}, map[string][]*corev1.Pod{}
	for _, pod := range pods {
		apps[pod.Labels["app"]] = append(apps[pod.Labels["app"]], pod)
		nodes[pod.Spec.NodeName] = append(nodes[pod.Spec.NodeName], pod)
		namespaces[pod.Namespace] = append(namespaces[pod.Namespace], pod)
	}
	same := func(pods []*corev1.Pod, found found) {
		t.Helper()
		require.Len(t, pods, found.len())
		versions := versionsOf(slices.Collect(found.each()))
		require.Len(t, versions, len(pods))
		for key := range versionsOf(pods) {
			require.Equal(t, want[key], versions[key], key)
		}
	}
	same(pods, got.all())
	for app, pods := range apps {
		same(pods, got.byApp(app))
	}
	for node, pods := range nodes {
		same(pods, got.byNode(node))
	}
	for namespace, pods := range namespaces {
		same(pods, got.inNamespace(namespace))
	}
	for _, key := range keysOf(pods) {
		pod, ok := got.get(key)
		require.True(t, ok)
		require.Equal(t, want[key.Key], pod.ResourceVersion)
	}
	_, ok := got.get(podKey{Key: index.Key{Namespace: "team-00", Name: "none"}, joined: "team-00/none"})
	assert.False(t, ok)
	if ranging, ok := got.(rangingCache); ok {
		assert.Equal(t, len(pods), ranging.rangeAll())
		for app, pods := range apps {
			assert.Equal(t, len(pods), ranging.rangeByApp(app))
		}
	}
}

// TestReadOpsFindAll does what BenchmarkPeerReads measures on a small cluster.
func TestReadOpsFindAll(t *testing.T) {
	c := cluster.New(2000, 20)
	pods := c.Pods(1)
	for _, p := range readPeers {
		started := p.start(t, newSource(pods))
		for _, op := range readOps(keysOf(pods), c.Apps(), c.Size, c.PerApp) {
			read := op.of(started)
			if read == nil {
				assert.NotContains(t, []string{"typed", "statedb"}, p.impl)
				continue
			}
			for range 3 {
				assert.Equal(t, op.finds, read(), "%s of %s", op.name, p.impl)
			}
		}
		started.stop()
	}
}

// TestPeersDeliverTheSame counts the calls of two handlers of each cache.
func TestPeersDeliverTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	pods := c.Pods(1)
	events := c.Updates(2*c.Size + 7)
	want := versionsOf(pods)
	for _, event := range events {
		maps.Copy(want, versionsOf([]*corev1.Pod{cluster.PodOf(event)}))
	}
	for _, p := range eventPeers {
		t.Run(p.impl, func(t *testing.T) {
			from := newSource(pods)
			recorders := []*podRecorder{newPodRecorder(), newPodRecorder()}
			started := p.start(t, from, recorders[0].calls(), recorders[1].calls())
			defer started.stop()
			for _, r := range recorders {
				r.cache = started
			}
			for _, event := range events {
				from.Events <- event
			}
			for _, r := range recorders {
				r.wait(len(events))
				assert.Zero(t, r.early, "told of what could not be read yet")
				assert.Equal(t, c.Size, r.added)
				assert.Equal(t, len(events), r.updates, "told of, or merged")
				assert.Equal(t, want, r.known)
				if p.latest {
					continue
				}
				require.Len(t, r.told, len(events))
				for i, event := range events {
					require.Same(t, cluster.PodOf(event), r.told[i])
				}
			}
		})
	}
}

// TestPeerEventsAreAllMeasured sends more events than may be in flight.
func TestPeerEventsAreAllMeasured(t *testing.T) {
	c := cluster.New(300, 20)
	pods := c.Pods(1)
	events := c.Updates(2 * c.Size)
	for _, p := range eventPeers {
		d := delivery.New(3)
		from := newSource(pods)
		started := p.start(t, from, metered(d)...)
		for _, n := range []int{1, 3*delivery.Window + 5} {
			d.Send(from.Events, eventsFrom(events, n), n)
			for _, m := range d.Meters {
				assert.Equal(t, n, m.Count(), p.impl)
			}
		}
		started.stop()
	}
}

// eventsFrom returns events for a delivery of n, after which another one may
// begin with other events than the last: statedb does not take the object that
// it has.
func eventsFrom(events []watch.Event, n int) []watch.Event {
	if n == 1 {
		return events[len(events)-1:]
	}
	return events
}

// TestUpdatesDoTheSame writes the same Pods to both stores.
func TestUpdatesDoTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	store, table := typedStore(t, c.Pods(1)), filledTable(t, c.Pods(1))
	defer table.close(t)
	var changes []index.Change[*corev1.Pod]
	for _, pod := range c.Pods(2)[:200] {
		changes = append(changes, index.Change[*corev1.Pod]{Reason: index.Watched, Object: pod})
	}
	store.Apply(nil, changes, "2")
	writePods(t, table, c.Pods(2)[:200])
	assert.Equal(t, versionsOf(store.List()), versionsOf(table.all().pods))
}

func versionsOf(pods []*corev1.Pod) map[index.Key]string {
	versions := map[index.Key]string{}
	for _, pod := range pods {
		versions[index.Key{Namespace: pod.Namespace, Name: pod.Name}] = pod.ResourceVersion
	}
	return versions
}
