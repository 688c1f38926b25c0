package benchmarks

import (
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

func TestMain(m *testing.M) {
	if task, ok := os.LookupEnv(taskVariable); ok {
		os.Exit(runTask(task))
	}
	goleak.VerifyTestMain(m)
}

// The tests below show on a small cluster that both sides of a benchmark do the
// same work.

// setOf returns the objects of a result as a set, which an untyped one may be.
func setOf[E any](objs []E) map[*corev1.Pod]bool {
	set := map[*corev1.Pod]bool{}
	for _, obj := range objs {
		set[any(obj).(*corev1.Pod)] = true
	}
	return set
}

func TestStoresGiveTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	pods := c.Pods(1)
	byNode, byApp := indexByNode(), indexByApp()
	ours := typedStore(t, pods, byNode, byApp, indexByLabel())
	theirs := clientGoStore(t, pods, twoIndexers())
	require.NoError(t, theirs.AddIndexers(namespaceIndexer()))

	compare := func(t *testing.T) {
		require.Len(t, theirs.List(), c.Size)
		assert.Equal(t, setOf(theirs.List()), setOf(ours.List()), "List")
		assert.Equal(t, setOf(theirs.List()), setOf(slices.Collect(ours.All())), "All")
		keys, joined := keysOf(pods)
		for i, key := range keys {
			want, ok, err := theirs.GetByKey(joined[i])
			require.NoError(t, err)
			require.True(t, ok)
			got, _ := ours.Get(key)
			require.Same(t, want, got)
		}
		for _, app := range c.Apps() {
			found, err := theirs.ByIndex("app", app)
			require.NoError(t, err)
			require.Len(t, found, c.PerApp)
			assert.Equal(t, setOf(found), setOf(byApp.Get(app)))
			assert.Equal(t, setOf(found), setOf(slices.Collect(byApp.All(app))))
		}
		for node := range cluster.Nodes {
			found, err := theirs.ByIndex("node", cluster.NodeName(node))
			require.NoError(t, err)
			assert.Equal(t, setOf(found), setOf(byNode.Get(cluster.NodeName(node))))
		}
	}
	t.Run("after a list", compare)
	for _, event := range c.Updates(c.Size + c.Size/2) {
		ours.Apply(nil, []index.Change[*corev1.Pod]{{Object: cluster.PodOf(event)}}, "")
		require.NoError(t, theirs.Update(cluster.PodOf(event)))
	}
	t.Run("after updates", compare)
}

func TestListersGiveTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	pods := c.Pods(1)
	indexed := lister.New(typedStore(t, pods, indexByLabel()))
	plain := lister.New(typedStore(t, pods))
	theirs := corev1listers.NewPodLister(clientGoStore(t, pods, namespaceIndexer()))

	for _, selector := range append(selectorsOf(c), labels.Everything()) {
		want, err := theirs.List(selector)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		for _, ours := range []*lister.Lister[*corev1.Pod]{indexed, plain} {
			got, err := ours.List(selector)
			require.NoError(t, err)
			assert.Len(t, got, len(want))
			assert.Equal(t, setOf(want), setOf(got), selector)
		}
	}
	for _, pod := range pods {
		want, err := theirs.Pods(pod.Namespace).Get(pod.Name)
		require.NoError(t, err)
		got, err := plain.Namespace(pod.Namespace).Get(pod.Name)
		require.NoError(t, err)
		require.Same(t, want, got)
	}
}

// TestInformersDeliverTheSame counts the calls of two handlers of each side,
// through a first list, updates and a second list.
func TestInformersDeliverTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	first, second := relistOf(c)
	events := c.Updates(2*c.Size + 7)
	for _, s := range allSides {
		t.Run(s.impl, func(t *testing.T) {
			t.Parallel() // the wait before the second list is the most of it
			recorders := []*recorder{newRecorder(), newRecorder()}
			r := startSynced(t, s, false, first, recorders[0].calls(), recorders[1].calls())
			defer r.stop()
			for _, event := range events {
				r.Events <- event
			}
			for _, rec := range recorders {
				rec.wait(len(events))
			}
			r.Expire()
			r.Answer(second, func() {})
			for _, rec := range recorders {
				rec.wait(len(events) + c.Size)
				assert.Equal(t, c.Size, rec.added)
				assert.Len(t, rec.known, c.Size)
				for _, event := range events {
					assert.Equal(t, 1, rec.updated[cluster.PodOf(event)])
				}
				assert.Len(t, rec.updated, len(events)+c.Size)
			}
			found := map[*corev1.Pod]bool{}
			for n := range cluster.Namespaces {
				list, err := r.list(cluster.NamespaceName(n))
				require.NoError(t, err)
				maps.Copy(found, setOf(list))
			}
			assert.Equal(t, recorders[0].known, found, "the lister has what the handler was told of")
		})
	}
}

// TestPipelineDeliversAll sends more events than may be in flight.
func TestPipelineDeliversAll(t *testing.T) {
	c := cluster.New(300, 20)
	list := cluster.ListOf(c.Pods(1), "1")
	for _, s := range allSides {
		p := newPipeline(t, s, true, list, 3)
		for _, n := range []int{1, 3*delivery.Window + 5} {
			p.deliver(c.Updates(2*c.Size), n)
			for _, m := range p.Meters {
				assert.Equal(t, n, m.Count(), s.impl)
			}
		}
		p.stop()
	}
}

// recorder is a handler that checks that each update follows on the last state of its Pod.
type recorder struct {
	mu      sync.Mutex
	changed sync.Cond
	added   int
	updates int
	updated map[*corev1.Pod]int
	known   map[*corev1.Pod]bool
}

func newRecorder() *recorder {
	r := &recorder{updated: map[*corev1.Pod]int{}, known: map[*corev1.Pod]bool{}}
	r.changed.L = &r.mu
	return r
}

func (r *recorder) calls() calls {
	return calls{
		add: func(pod *corev1.Pod) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.added++
			r.known[pod] = true
		},
		update: func(old, updated *corev1.Pod) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.updates++
			r.updated[updated]++
			delete(r.known, old)
			r.known[updated] = true
			r.changed.Signal()
		},
	}
}

// wait waits for the n-th update.
func (r *recorder) wait(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.updates < n {
		r.changed.Wait()
	}
}
