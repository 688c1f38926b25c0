package adapters_test

import (
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// adderCalls is a work queue that writes down how keys are added.
type adderCalls struct {
	workqueue.TypedRateLimitingInterface[index.Key] // nil: nothing else is called
	calls                                           []string
}

func (q *adderCalls) Add(key index.Key) { q.calls = append(q.calls, "add "+key.Name) }

func (q *adderCalls) AddAfter(key index.Key, d time.Duration) {
	q.calls = append(q.calls, fmt.Sprintf("add %s after %v", key.Name, d))
}

func (q *adderCalls) AddRateLimited(key index.Key) {
	q.calls = append(q.calls, "add rate limited "+key.Name)
}

func TestAdderHonoursOptions(t *testing.T) {
	q := &adderCalls{}
	a := adapters.Adder[index.Key](q)
	a.AddWithOptions(index.Key{Name: "a"}, queue.AddOptions{})
	a.AddWithOptions(index.Key{Name: "b"}, queue.AddOptions{Priority: queue.LowPriority, After: -time.Second})
	a.AddWithOptions(index.Key{Name: "c"}, queue.AddOptions{After: time.Second})
	a.AddWithOptions(index.Key{Name: "d"}, queue.AddOptions{RateLimited: true})
	a.AddWithOptions(index.Key{Name: "e"}, queue.AddOptions{RateLimited: true, After: time.Second})
	assert.Equal(t, []string{
		"add a", "add b", "add c after 1s", "add rate limited d", "add e after 1s", "add rate limited e",
	}, q.calls)
}

func TestAdderOfATypedQueueIsTheQueue(t *testing.T) {
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	assert.Same(t, q, adapters.Adder[index.Key](q))
	assert.True(t, adapters.Adder[index.Key](nil) == nil)
}

// Typed handlers feed a queue of client-go.
func ExampleAdder() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[index.Key]())
	defer q.ShutDown()
	handler := control.Enqueue[*corev1.Pod](adapters.Adder(q))

	handler.OnAdd(sharedPod("web-0", 1), false)
	key, _ := q.Get()
	fmt.Println(key)
	// Output: ns/web-0
}

// The other way round nothing is needed: a queue.WorkQueue goes wherever
// client-go's does.
func ExampleAdder_workQueue() {
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		log.Fatal(err)
	}
	var untouched workqueue.TypedRateLimitingInterface[index.Key] = q
	defer untouched.ShutDown()

	untouched.AddRateLimited(index.Key{Namespace: "default", Name: "web-0"})
	key, _ := untouched.Get()
	fmt.Println(key, adapters.Adder(untouched) == control.Adder[index.Key](q))
	// Output: default/web-0 true
}
