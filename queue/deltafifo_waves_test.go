package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/queue"
)

// wave is a DeltaFIFO whose producers come and go, with the deltas that were put in, in the order
// in which their calls have returned.
type wave struct {
	*testing.T
	fifo *queue.DeltaFIFO[*string]

	mu     sync.Mutex
	begun  int            // guarded by mu; how many calls
	calls  []*call        // guarded by mu; all of them
	taken  []int          // guarded by mu; calls, in the order in which Take returned them
	ending bool           // guarded by mu; it is about to be closed
	closed bool           // guarded by mu; before any call that is begun from now on
	open   int            // guarded by mu; calls that have returned before that
	byRef  map[string]int // guarded by mu; calls by what their deltas say
}

// call is one that puts something in.
type call struct {
	producer int
	delta    queue.Delta[*string] // as it has to come out
	late     bool                 // it was begun after Close had returned
	returned int                  // how many calls were begun when it returned
}

// TestDeltaFIFOWaves: producers put deltas in, alone and in bursts of thousands, while limits come
// and go, and a consumer is slow, waits and gives up waiting. Each delta is taken once, unchanged,
// after earlier ones of its producer and those of calls that had returned before. In the end no
// call waits.
func TestDeltaFIFOWaves(t *testing.T) {
	waves.Run(t, 8, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			w := &wave{T: t, fifo: queue.NewDeltaFIFO[*string](), byRef: map[string]int{}}
			var producers sync.WaitGroup
			for n := range 1 + r.IntN(8) {
				own := rand.New(rand.NewPCG(seed, uint64(10+n)))
				producers.Go(func() { w.produce(n, own) })
			}
			own := rand.New(rand.NewPCG(seed, 4))
			producers.Go(func() { w.disturb(own) })
			consumed := make(chan struct{})
			go func() { defer close(consumed); w.consume(rand.New(rand.NewPCG(seed, 5))) }()
			if r.IntN(3) == 0 { // in the middle
				time.Sleep(time.Duration(r.Int64N(int64(20 * time.Second))))
			} else {
				producers.Wait()
			}
			w.mu.Lock()
			w.ending = true
			w.mu.Unlock()
			w.fifo.Close()
			w.mu.Lock()
			w.closed = true
			w.mu.Unlock()
			producers.Wait()
			<-consumed
			w.look()
		})
	})
}

// produce puts in bursts of deltas.
func (w *wave) produce(producer int, r *rand.Rand) {
	for range 1 + r.IntN(30) {
		n := 1 + r.IntN(20)
		if r.IntN(8) == 0 {
			n = 1 + r.IntN(4000)
		}
		for range n {
			w.put(producer, r)
		}
		time.Sleep(time.Duration(r.IntN(3) * r.IntN(int(time.Second))))
	}
}

// put puts in a delta of any type.
func (w *wave) put(producer int, r *rand.Rand) {
	w.mu.Lock()
	number := w.begun
	w.begun++
	ref := strconv.Itoa(number)
	c := &call{producer: producer, late: w.closed}
	w.calls = append(w.calls, c)
	w.byRef[ref] = number
	w.mu.Unlock()

	name := index.Key{Namespace: strconv.Itoa(r.IntN(9)), Name: ref}
	changes := []queue.Delta[*string]{{Type: queue.Put, Object: &ref}, {Type: queue.Remove, Key: &name, Reason: 3}}
	c.delta = queue.Delta[*string]{Type: queue.DeltaType(1 + r.IntN(6)), ResourceVersion: ref}
	switch d := &c.delta; d.Type {
	case queue.Put:
		d.Object = &ref
		w.fifo.Put(&ref, ref)
	case queue.Delete:
		if r.IntN(2) == 0 {
			d.Object = &ref
			w.fifo.Delete(&ref, ref)
		} else {
			d.Key = &name
			w.fifo.Add(*d)
		}
	case queue.Remove:
		d.Key, d.Reason = &name, 7
		w.fifo.Add(*d)
	case queue.Replace:
		d.List = &queue.List[*string]{Namespace: name.Namespace, Objects: []*string{&ref, nil}, Kept: []index.Key{name}}
		w.fifo.Replace(*d.List, ref)
	case queue.Bookmark:
		w.fifo.Add(*d)
	case queue.Step:
		d.List = &queue.List[*string]{Changes: changes, Part: r.IntN(2) == 0}
		w.fifo.Add(*d)
	}
	w.mu.Lock()
	c.returned = w.begun
	if !w.ending {
		w.open++
	}
	w.mu.Unlock()
}

// disturb sets limits, and takes them away in the end.
func (w *wave) disturb(r *rand.Rand) {
	for range r.IntN(20) {
		w.fifo.SetLimit([]int{-1, 0, 1, 2, 100, 5000}[r.IntN(6)])
		time.Sleep(time.Duration(r.IntN(int(2 * time.Second))))
	}
	w.fifo.SetLimit(0)
}

// consume takes all there is until the queue is closed.
func (w *wave) consume(r *rand.Rand) {
	for {
		ctx, cancel := w.Context(), context.CancelFunc(func() {})
		if r.IntN(3) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(int(time.Second))))
		}
		batch, err := w.fifo.Take(ctx)
		cancel()
		switch {
		case err == queue.ErrClosed:
			return
		case err != nil:
			assert.ErrorIs(w, err, context.DeadlineExceeded)
			assert.Empty(w, batch)
			continue
		}
		assert.LessOrEqual(w, len(batch), w.fifo.HighWater())
		w.mu.Lock()
		for _, d := range batch {
			number, ok := w.byRef[d.ResourceVersion]
			if !ok {
				assert.Fail(w, fmt.Sprintf("a delta of version %q was never put in", d.ResourceVersion))
				continue
			}
			if want := w.calls[number].delta; !assert.ObjectsAreEqual(want, d) {
				assert.Fail(w, fmt.Sprintf("%+v was put in, %+v comes out", want, d))
			}
			w.taken = append(w.taken, number)
		}
		w.mu.Unlock()
		if r.IntN(2) == 0 {
			clear(batch) // it is the consumer's until it takes the next one
		}
		time.Sleep(time.Duration(r.Int64N(4) * r.Int64N(int64(time.Second))))
	}
}

// look compares the deltas taken with those put in.
func (w *wave) look() {
	batch, err := w.fifo.Take(w.Context())
	assert.Empty(w, batch)
	assert.ErrorIs(w, err, queue.ErrClosed)
	require.Zero(w, w.fifo.Len())
	assert.GreaterOrEqual(w, len(w.taken), w.open, "something was put in before it was closed, and not taken")
	seen := map[int]bool{}
	last := map[int]int{} // the call that was taken last, by producer
	latest := -1          // the call among those that were taken which was begun last
	for _, number := range w.taken {
		c := w.calls[number]
		require.False(w, seen[number], "%+v was taken twice", c.delta)
		seen[number] = true
		require.False(w, c.late, "%+v was put in after it was closed", c.delta)
		if before, ok := last[c.producer]; ok {
			require.Less(w, before, number, "producer %d has put them in the other way round", c.producer)
		}
		last[c.producer] = number
		if latest >= c.returned {
			require.Fail(w, "out of order", "%+v came after one that was begun when it was there", c.delta)
		}
		latest = max(latest, number)
	}
	for producer := range last { // what each has put in last, all before has come out
		calls := slices.DeleteFunc(slices.Clone(w.calls), func(c *call) bool { return c.producer != producer })
		taken := 0
		for _, number := range w.taken {
			if w.calls[number].producer == producer {
				taken++
			}
		}
		for i, c := range calls {
			require.Equal(w, i < taken, seen[w.byRef[c.delta.ResourceVersion]], "a delta of producer %d is missing", producer)
		}
	}
}

// TestDeltaFIFOGivesBack: the next Take frees the deltas taken before, and the memory that a large
// batch needed.
func TestDeltaFIFOGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		q := queue.NewDeltaFIFO[*int]()
		come, gone := 0, 0
		take := func() {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := q.Take(ctx)
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
		}
		return waves.Structure{
			Come: func(key int) {
				q.Put(&key, "")
				come++
			},
			Go: func(int) { gone++ },
			Rest: func() {
				for range 3 {
					take()
				}
				for range come - gone { // what is left comes again
					key := 0
					q.Put(&key, "")
				}
				come -= gone
				gone = 0
			},
		}
	})
}
