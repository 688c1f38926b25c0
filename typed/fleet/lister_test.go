package fleet_test

import (
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// TestListers read one cluster as if there were no others, or all.
func TestListers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		byCluster := fleet.ByCluster[*corev1.Pod]()
		require.NoError(t, w.AddIndexes(byCluster, index.Labels[inCluster]("name")))
		node := at("node", 1)
		node.Namespace = ""
		w.list("east", 5, at("a", 1), at("b", 2), node)
		w.list("west", 5, at("a", 3))
		w.next()
		named := func(name string) labels.Selector { return labels.SelectorFromSet(labels.Set{"name": name}) }

		east := fleet.NewLister(w.Informer, byCluster, "east")
		assert.Equal(t, 3, east.Len())
		all, err := east.List(nil)
		assert.NoError(t, err)
		assert.Len(t, all, 3)
		some, err := east.List(named("a"))
		assert.NoError(t, err)
		assert.Equal(t, []*corev1.Pod{at("a", 1)}, some)
		got, err := east.Namespace("ns").Get("a")
		assert.NoError(t, err)
		assert.Equal(t, "1", got.ResourceVersion)
		_, err = east.Get("node")
		assert.NoError(t, err)
		_, err = east.Get("a")
		assert.True(t, apierrors.IsNotFound(err), err)
		_, err = fleet.NewLister(w.Informer, byCluster, "north").Namespace("ns").Get("a")
		assert.True(t, apierrors.IsNotFound(err), err)
		inNamespace, err := east.Namespace("ns").List(named("b"))
		assert.NoError(t, err)
		assert.Equal(t, []*corev1.Pod{at("b", 2)}, inNamespace)
		assert.Len(t, slices.Collect(east.Namespace("ns").All(nil)), 2)

		everywhere, err := lister.New(w.Informer).List(named("a"))
		assert.NoError(t, err)
		assert.Len(t, everywhere, 2)
		w.stop()
		w.next()
		require.NoError(t, w.Release())
		_, err = east.List(nil)
		assert.ErrorIs(t, err, index.ErrReleased)
		_, err = east.Namespace("ns").Get("a")
		assert.ErrorIs(t, err, index.ErrReleased)
	})
}

// unlabeled is a source without objects, which leaves their labels out.
type unlabeled struct{ script }

func (*unlabeled) Omits(field string) bool { return field == "metadata.labels" }

// TestListersOfAMask: a selector of labels that are left out is an error, by each way to list, and
// nothing else is.
func TestListersOfAMask(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east"})
		require.NoError(t, err)
		things := typed.NewInformer(fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] {
			return &unlabeled{script{started: make(chan struct{})}}
		}))
		byCluster := fleet.ByCluster[*corev1.Pod]()
		require.NoError(t, things.AddIndexes(byCluster))
		east := fleet.NewLister(things, byCluster, "east")
		some := labels.SelectorFromSet(labels.Set{"name": "a"})
		_, err = east.List(some)
		assert.NoError(t, err, "the cluster is not known yet")
		rig.Start(t, things)
		synctest.Wait()
		for name, list := range map[string]func(selector labels.Selector) ([]*corev1.Pod, error){
			"fleet": east.List, "namespace": east.Namespace("ns").List,
		} {
			_, err := list(some)
			assert.ErrorContains(t, err, "leaves metadata.labels out", name)
			for _, everything := range []labels.Selector{nil, labels.Everything()} {
				_, err = list(everything)
				assert.NoError(t, err, name)
			}
		}
		for name, all := range map[string]func(selector labels.Selector) iter.Seq[*corev1.Pod]{
			"fleet": east.All, "namespace": east.Namespace("ns").All,
		} {
			assert.Panics(t, func() { _ = slices.Collect(all(some)) }, name)
			assert.Empty(t, slices.Collect(all(labels.Everything())), name)
		}
	})
}

// TestControllers: keys in queues have the cluster.
func TestControllers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east", "west"})
		q, err := queue.NewWorkQueue[index.Key]()
		require.NoError(t, err)
		defer q.ShutDown()
		_, err = w.Handle(control.Enqueue[inCluster](q))
		require.NoError(t, err)
		w.start()
		w.list("east", 5, at("a", 1))
		w.list("west", 5, at("a", 1))
		w.next()
		var clusters []string
		for range 2 {
			key, err := q.GetContext(t.Context())
			require.NoError(t, err)
			cluster, inside := fleet.Split(key)
			assert.Equal(t, index.Key{Namespace: "ns", Name: "a"}, inside)
			clusters = append(clusters, cluster)
			q.Done(key)
		}
		assert.ElementsMatch(t, []string{"east", "west"}, clusters)
	})
}

// TestFactory: a Source is the key of the informer that all share.
func TestFactory(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east"})
		factory := typed.NewFactory()
		defer factory.Shutdown()
		share := func() *typed.SharedInformer[inCluster] {
			shared, err := typed.Share(factory, w.source, func() source.Source[inCluster] { return w.source })
			require.NoError(t, err)
			return shared
		}
		first, second := share(), share()
		assert.True(t, first.Is(second))
		w.list("east", 5, at("a", 1))
		require.NoError(t, second.WaitForSync(t.Context()))
		first.Release()
		second.Release()
		third := share()
		defer third.Release()
		w.scriptOf("east")
		assert.Len(t, w.scripts["east"], 2, "it is listed anew")
		w.list("east", 6, at("a", 1), at("b", 1))
		require.NoError(t, w.source.WaitForSync(t.Context(), "east"))
		assert.Equal(t, 2, third.Len())
	})
}

// row is a projection of a Pod, or how many Pods there are of a name.
type row struct {
	namespace, name, cluster string
	n                        int
}

func (r *row) GetName() string      { return r.name }
func (r *row) GetNamespace() string { return r.namespace }

// TestProjectionsAndViews are made of fleets as of other informers and sources.
func TestProjectionsAndViews(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		byName := view.Group(view.Of(w.Informer), view.One(func(obj inCluster) (string, bool) { return obj.GetName(), true }),
			func(name string, objs iter.Seq[inCluster]) (*row, bool) {
				return &row{name: name, n: len(slices.Collect(objs))}, true
			})
		counts := typed.NewInformer(byName)
		rig.Start(t, counts)
		w.list("east", 5, at("a", 1), at("b", 1))
		w.list("west", 5, at("a", 1))
		w.next()
		got, _ := counts.Get(index.Key{Name: "a"})
		assert.Equal(t, &row{name: "a", n: 2}, got)
		w.clusters.Remove("west")
		w.next()
		got, _ = counts.Get(index.Key{Name: "a"})
		assert.Equal(t, &row{name: "a", n: 1}, got)
	})
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east", "west"})
		rows := typed.NewInformer(source.FilterMap(w.source, func(obj inCluster) (*row, bool) {
			return &row{namespace: obj.GetNamespace(), name: obj.GetName(), cluster: obj.Cluster()}, obj.GetName() != "left-out"
		}))
		rig.Start(t, rows)
		w.list("east", 5, at("a", 1), at("left-out", 1))
		w.list("west", 5, at("a", 1))
		synctest.Wait()
		assert.ElementsMatch(t, []*row{
			{namespace: "east/ns", name: "a", cluster: "east"},
			{namespace: "west/ns", name: "a", cluster: "west"},
		}, rows.List())
		w.list("east", 6, at("b", 6), at("left-out", 1))
		w.clusters.Remove("west")
		synctest.Wait()
		assert.Equal(t, []*row{{namespace: "east/ns", name: "b", cluster: "east"}}, rows.List())
		assert.NoError(t, w.source.WaitForResourceVersion(t.Context(), "east", "6"))
	})
}
