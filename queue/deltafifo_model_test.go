package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// TestDeltaFIFOModel compares a queue with a slice.
func TestDeltaFIFOModel(t *testing.T) { rapid.Check(t, checkDeltaFIFO) }

func FuzzDeltaFIFO(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkDeltaFIFO)) }

func checkDeltaFIFO(t *rapid.T) {
	type delta = queue.Delta[int]
	q := queue.NewDeltaFIFO[int]()
	var (
		queued, inHand, wantInHand []delta
		closed                     bool
		limit, highWater, next     int
	)
	put := func(d delta, do func(d delta)) {
		if limit > 0 && len(queued) >= limit && !closed {
			return // a producer would wait
		}
		do(d)
		if !closed {
			queued = append(queued, d)
			highWater = max(highWater, len(queued))
		}
	}
	version := func() string { next++; return strconv.Itoa(next) }
	t.Repeat(map[string]func(*rapid.T){
		"object": func(t *rapid.T) {
			d := delta{Type: queue.Put, Object: rapid.Int().Draw(t, "object"), ResourceVersion: version()}
			if rapid.Bool().Draw(t, "deleted") {
				d.Type = queue.Delete
				put(d, func(d delta) { q.Delete(d.Object, d.ResourceVersion) })
			} else {
				put(d, func(d delta) { q.Put(d.Object, d.ResourceVersion) })
			}
		},
		"name": func(t *rapid.T) {
			name := index.Key{Namespace: "ns", Name: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name")}
			d := delta{Type: queue.Remove, Key: &name, ResourceVersion: version()}
			if rapid.Bool().Draw(t, "deleted") {
				d.Type = queue.Delete
				put(d, q.Add)
			} else {
				d.Reason = index.Reason(rapid.Uint8().Draw(t, "reason"))
				put(d, q.Add)
			}
		},
		"replace": func(t *rapid.T) {
			list := queue.List[int]{
				Namespace: rapid.SampledFrom([]string{"", "a"}).Draw(t, "namespace"),
				Objects:   rapid.SliceOf(rapid.Int()).Draw(t, "objects"),
			}
			put(delta{Type: queue.Replace, List: &list, ResourceVersion: version()},
				func(d delta) { q.Replace(*d.List, d.ResourceVersion) })
		},
		"bookmark": func(*rapid.T) {
			put(delta{Type: queue.Bookmark, ResourceVersion: version()}, q.Add)
		},
		"many": func(t *rapid.T) {
			for range rapid.IntRange(0, 100).Draw(t, "count") {
				put(delta{Type: queue.Put, Object: next}, func(d delta) { q.Put(d.Object, "") })
				next++
			}
		},
		"take": func(t *rapid.T) {
			var err error
			inHand, err = q.Take(ended())
			switch {
			case len(queued) > 0:
				require.NoError(t, err)
			case closed:
				require.ErrorIs(t, err, queue.ErrClosed)
			default:
				require.ErrorIs(t, err, context.Canceled)
			}
			wantInHand, queued = queued, nil
		},
		"limit": func(t *rapid.T) {
			limit = rapid.IntRange(-1, 50).Draw(t, "limit")
			q.SetLimit(limit)
		},
		"close": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				q.Close()
				closed = true
			}
		},
		"": func(t *rapid.T) {
			require.Equal(t, len(queued), q.Len())
			require.Equal(t, highWater, q.HighWater())
			require.Equal(t, len(wantInHand), len(inHand))
			for i, d := range inHand {
				require.Equal(t, wantInHand[i], d, "the batch in hand is still what it was")
			}
		},
	})
}

// TestEachProducersOrderIsKept has several producers and a consumer that gives
// up waiting again and again, without a limit and with a tight one.
func TestEachProducersOrderIsKept(t *testing.T) {
	for _, limit := range []int{0, 1, 7} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			const producers, each = 6, 2000
			q := queue.NewDeltaFIFO[[2]int]()
			q.SetLimit(limit)
			var group errgroup.Group
			for producer := range producers {
				group.Go(func() error {
					for i := range each {
						q.Put([2]int{producer, i}, "")
					}
					return nil
				})
			}
			var closing errgroup.Group
			closing.Go(func() error {
				defer q.Close()
				return group.Wait()
			})

			var next [producers]int
			random := rand.New(rand.NewPCG(1, uint64(limit)))
			for {
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(2) == 0 {
					closing.Go(func() error { cancel(); return nil }) // at any moment of Take
				}
				batch, err := q.Take(ctx)
				cancel()
				if err == queue.ErrClosed {
					break
				}
				if limit > 0 {
					require.LessOrEqual(t, len(batch), limit)
				}
				for _, d := range batch {
					producer, i := d.Object[0], d.Object[1]
					require.Equal(t, next[producer], i, "producer %d", producer)
					next[producer]++
				}
			}
			require.NoError(t, closing.Wait())
			for _, n := range next {
				assert.Equal(t, each, n)
			}
		})
	}
}
