package reference_test

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

var churn = flag.Int("holds", 100_000, "how many holds TestChurn makes, in an hour of virtual time")

// counted is a source of one object that counts how many run.
type counted struct {
	key     index.Key
	running *atomic.Int64
}

func (c counted) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error {
	c.running.Add(1)
	defer c.running.Add(-1)
	list(sink, "1", rig.At(c.key.Name, 1))
	<-ctx.Done()
	return nil
}

// TestChurn lets owners come and go for an hour: nothing of them is left.
func TestChurn(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var running atomic.Int64
		s := reference.NewSource[int](func(k index.Key) source.Source[*rig.Thing] { return counted{k, &running} }, reference.WithIdle(time.Minute))
		informer := typed.NewInformer(s)
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		random := rand.New(rand.NewPCG(1, 2))
		around := func(n int) {
			for i := range n {
				var keys []index.Key
				for range random.IntN(4) {
					keys = append(keys, thing(random.IntN(700)))
				}
				require.NoError(t, s.Hold(random.IntN(100), keys...))
				if i%10 == 0 {
					_, exists, err := reference.Get(ctx, s, informer, thing(random.IntN(700)))
					require.NoError(t, err)
					require.True(t, exists)
				}
				if i%20 == 0 {
					time.Sleep(20 * time.Hour / time.Duration(*churn))
				}
			}
			for owner := range 100 {
				require.NoError(t, s.Hold(owner))
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		around(*churn / 20)
		goroutines, heap := ofReferences(), heapNow()
		around(*churn)
		assert.Zero(t, running.Load(), "watches")
		assert.Zero(t, informer.Len())
		assert.Equal(t, reference.Status{Limit: 1000}, s.Status())
		assert.Equal(t, goroutines, ofReferences(), "goroutines")
		assert.Less(t, heapNow(), heap+1<<20, "heap")
		cancel()
		run.Wait()
	})
}

// ofReferences returns how many goroutines run functions of the package, without the test's.
func ofReferences() (n int) {
	all := make([]byte, 16<<20)
	all = all[:runtime.Stack(all, true)]
	for stack := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.Contains(stack, []byte("typed/reference.")) {
			n++
		}
	}
	return n
}

// heapNow returns how many bytes are in use.
func heapNow() uint64 {
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
