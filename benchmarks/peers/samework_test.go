package peers

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"istio.io/istio/pkg/log"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(klog.Background())
	// What istio logs goes to standard output, into the middle of results.
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	goleak.VerifyTestMain(m)
}

// TestLoadsDoTheSame runs what is measured, with the queues that are measured,
// until each key has been added twice.
func TestLoadsDoTheSame(t *testing.T) {
	for _, l := range loads {
		want := map[index.Key]int{}
		for _, r := range requests(l.keys) {
			want[r.key] = 2
		}
		require.Len(t, want, l.keys)
		for _, s := range bothSides {
			t.Run(l.name+"/"+s.impl, func(t *testing.T) {
				q := newRecorder(s.make(t))
				operation, stop := l.start(q)
				for range 2 * l.keys / l.added {
					operation()
				}
				stop()
				assert.Equal(t, want, q.handedOut)
				assert.Equal(t, want, q.done)
			})
		}
	}
}

// TestSameOrder adds keys twice, the second time often with another priority,
// and expects them from both sides in the same order: the higher priority of
// both first, and in one, the key first that has had it longer.
func TestSameOrder(t *testing.T) {
	added := requests(1_000)
	again := slices.Clone(added)
	random := rand.New(rand.NewPCG(3, 4))
	random.Shuffle(len(again), func(i, j int) {
		again[i].priority, again[j].priority = again[j].priority, again[i].priority
	})
	added = append(added, again...)
	want := inOrder(added)
	require.Len(t, want, len(again))

	// Ageing is the subject of TestLowPriorities.
	inPriorityOrder := side{"typed", func(tb testing.TB) priorityQueue {
		return newTyped(tb, queue.WithAgeing(len(added)))
	}}
	for _, s := range []side{inPriorityOrder, controllerRuntimeSide} {
		t.Run(s.impl, func(t *testing.T) {
			q := s.make(t)
			defer q.ShutDown()
			for i := range added {
				q.add(&added[i])
			}
			require.Equal(t, len(want), q.Len())
			var got []index.Key
			for range want {
				key, shutDown := q.Get()
				require.False(t, shutDown)
				q.Done(key)
				got = append(got, key)
			}
			assert.Equal(t, want, got)
			assert.Zero(t, q.Len())
		})
	}
}

// inOrder returns the keys in the order in which they are to be handed out.
func inOrder(added []request) []index.Key {
	type place struct{ priority, since int }
	places := map[index.Key]place{}
	for i, r := range added {
		if p, waits := places[r.key]; !waits || r.priority > p.priority {
			places[r.key] = place{r.priority, i}
		}
	}
	return slices.SortedFunc(maps.Keys(places), func(a, b index.Key) int {
		return cmp.Or(cmp.Compare(places[b].priority, places[a].priority), cmp.Compare(places[a].since, places[b].since))
	})
}

// recorder counts the keys that a queue hands out, and those that are done.
type recorder struct {
	priorityQueue
	mu        sync.Mutex
	handedOut map[index.Key]int // guarded by mu
	done      map[index.Key]int // guarded by mu
}

func newRecorder(q priorityQueue) *recorder {
	return &recorder{priorityQueue: q, handedOut: map[index.Key]int{}, done: map[index.Key]int{}}
}

func (r *recorder) Get() (index.Key, bool) {
	key, shutDown := r.priorityQueue.Get()
	if !shutDown {
		r.mu.Lock()
		r.handedOut[key]++
		r.mu.Unlock()
	}
	return key, shutDown
}

func (r *recorder) Done(key index.Key) {
	r.mu.Lock()
	r.done[key]++
	r.mu.Unlock()
	r.priorityQueue.Done(key)
}
