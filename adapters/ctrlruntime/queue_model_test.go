package ctrlruntime_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/queue"
)

// TestQueueBesideControllerRuntimes does the same to both queues, at random. Both
// have to hand out the same requests, with the same priorities, at the same times.
// Only the order within a priority may differ.
func TestQueueBesideControllerRuntimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, checkQueue) // without a deadline, which a bubble does not have
	})
}

func FuzzQueue(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		synctest.Test(t, func(t *testing.T) { rapid.MakeFuzz(checkQueue)(t, input) })
	})
}

var (
	someKeys     = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3)
	somePriority = rapid.SampledFrom([]int{0, 0, 1, 7, queue.LowPriority, -1})
	someDelay    = rapid.SampledFrom([]time.Duration{0, 0, 1, second, 2 * second, -1})
)

// both are the queues, and the keys that are being processed.
type both struct {
	ours      *ctrlruntime.Queue[string]
	theirs    priorityQueue
	inProcess []string
}

func checkQueue(t *rapid.T) {
	b := &both{
		ours:   newQueue(t, queue.WithAgeing(math.MaxInt)), // priorities are strict, as theirs
		theirs: priorityqueue.New[string](""),
	}
	defer b.ours.ShutDown()
	defer b.theirs.ShutDown()
	t.Repeat(map[string]func(*rapid.T){
		"add":      func(t *rapid.T) { b.add(t, someKeys.Draw(t, "keys")) },
		"work":     b.work,
		"get":      b.get,
		"done":     b.done,
		"time":     func(t *rapid.T) { pass(rapid.SampledFrom([]time.Duration{1, second - 1, second}).Draw(t, "time")) },
		"add more": func(t *rapid.T) { b.add(t, []string{"a", "b", "c", "d"}) },
	})
}

func (b *both) add(t *rapid.T, keys []string) {
	o := priorityqueue.AddOpts{After: someDelay.Draw(t, "after")}
	if priority := somePriority.Draw(t, "priority"); priority != 0 {
		o.Priority = &priority
	}
	if o.After >= 0 { // otherwise theirs puts After before the rate limiter's delay
		o.RateLimited = rapid.Bool().Draw(t, "rate limited")
	}
	b.ours.AddWithOpts(o, keys...)
	b.theirs.AddWithOpts(o, keys...)
	synctest.Wait()
}

// get gets all that waits, so that the order within a priority makes no
// difference, and leaves it in process.
func (b *both) get(t *rapid.T) {
	var ours, theirs []got
	for b.ours.Stats().Waiting > 0 {
		ours = append(ours, get(t, b.ours))
	}
	for range ours {
		theirs = append(theirs, get(t, b.theirs))
		synctest.Wait()
	}
	require.ElementsMatch(t, ours, theirs)
	for i := range ours {
		require.Equal(t, ours[i].priority, theirs[i].priority, "%v, %v", ours, theirs)
		b.inProcess = append(b.inProcess, ours[i].key)
	}
	require.Equal(t, b.theirs.Len(), b.ours.Len(), "what waits for its Done")
}

// done ends the processing of the key that was handed out first.
func (b *both) done(t *rapid.T) {
	if len(b.inProcess) == 0 {
		return
	}
	key := b.inProcess[0]
	b.inProcess = b.inProcess[1:]
	b.ours.Done(key)
	b.theirs.Done(key)
	if rapid.Bool().Draw(t, "forget") {
		b.ours.Forget(key)
		b.theirs.Forget(key)
	}
	synctest.Wait()
	require.Equal(t, b.theirs.NumRequeues(key), b.ours.NumRequeues(key))
}

// work gets all that waits and is done with it.
func (b *both) work(t *rapid.T) {
	b.get(t)
	for len(b.inProcess) > 0 {
		b.done(t)
	}
}
