package peers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// side is one of those that are compared: a way to make a queue.
type side struct {
	impl string
	make func(tb testing.TB) priorityQueue
}

var (
	typedSide             = side{"typed", func(tb testing.TB) priorityQueue { return newTyped(tb) }}
	controllerRuntimeSide = side{"controller-runtime", newControllerRuntime}

	bothSides = []side{typedSide, controllerRuntimeSide}
)

// priorityQueue is what the sides have in common.
type priorityQueue interface {
	workqueue.TypedDelayingInterface[index.Key]
	add(r *request)
}

// request asks for a key to be handed out, with a priority.
type request struct {
	key      index.Key
	priority int
}

type typedQueue struct {
	*queue.WorkQueue[index.Key]
}

func newTyped(tb testing.TB, opts ...queue.Option) typedQueue {
	q, err := queue.NewWorkQueue[index.Key](opts...)
	require.NoError(tb, err)
	return typedQueue{q}
}

func (q typedQueue) add(r *request) {
	q.AddWithOptions(r.key, queue.AddOptions{Priority: r.priority})
}

type controllerRuntimeQueue struct {
	priorityqueue.PriorityQueue[index.Key]
}

// newControllerRuntime returns a queue without a name, as one that has a name
// has metrics too.
func newControllerRuntime(testing.TB) priorityQueue {
	return controllerRuntimeQueue{priorityqueue.New[index.Key]("")}
}

// The pointer to the priority is to what lives on, so that it need not be
// allocated.
func (q controllerRuntimeQueue) add(r *request) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &r.priority}, r.key)
}
