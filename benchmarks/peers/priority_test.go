package peers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// BenchmarkPriority measures a queue whose keys have three priorities.
//
//   - AddGetDone: an operation is a key that is added, handed out and done.
//   - Burst1000: an operation is a thousand keys that are added, and then handed
//     out and done one by one, all by one goroutine.
//   - Contended8x8: an operation is 8,000 keys that are added by eight
//     goroutines, a thousand by each, while eight others hand them out and are
//     done with them at once. It ends with the last Done.
//
// Keys are added one by one, as handlers of both sides do.
func BenchmarkPriority(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			for _, s := range bothSides {
				b.Run("impl="+s.impl, func(b *testing.B) {
					q := s.make(b)
					operation, stop := l.start(q)
					defer stop()
					operation() // queues keep the memory that it needs
					b.ReportAllocs()
					for b.Loop() {
						operation()
					}
				})
			}
		})
	}
}

// load is what is done to a queue.
type load struct {
	name  string
	keys  int // different ones, which are added in turn
	added int // by an operation
	// start returns the measured operation, and a function that ends the queue and waits for its
	// users.
	start func(q priorityQueue) (operation, stop func())
}

var loads = []load{
	{"AddGetDone", 1_000, 1, startAddGetDone},
	{"Burst1000", 1_000, 1_000, startBurst},
	{"Contended8x8", producers * perProducer, producers * perProducer, startContended},
}

func startAddGetDone(q priorityQueue) (operation, stop func()) {
	all := requests(1_000)
	next := 0
	return func() {
		q.add(&all[next])
		if next++; next == len(all) {
			next = 0
		}
		key, _ := q.Get()
		q.Done(key)
	}, q.ShutDown
}

func startBurst(q priorityQueue) (operation, stop func()) {
	all := requests(1_000)
	return func() {
		for i := range all {
			q.add(&all[i])
		}
		for range all {
			key, _ := q.Get()
			q.Done(key)
		}
	}, q.ShutDown
}

const (
	producers   = 8
	perProducer = 1_000
	workers     = 8
)

func startContended(q priorityQueue) (operation, stop func()) {
	all := requests(producers * perProducer)
	var left atomic.Int64 // keys of the operation that are not done
	var running sync.WaitGroup
	finished := make(chan struct{}, 1)
	for range workers {
		running.Go(func() {
			for key, shutDown := q.Get(); !shutDown; key, shutDown = q.Get() {
				q.Done(key)
				if left.Add(-1) == 0 {
					finished <- struct{}{}
				}
			}
		})
	}
	var begin [producers]chan struct{}
	for p := range begin {
		begin[p] = make(chan struct{}, 1)
		own := all[p*perProducer : (p+1)*perProducer]
		running.Go(func() {
			for range begin[p] {
				for i := range own {
					q.add(&own[i])
				}
			}
		})
	}
	operation = func() {
		left.Store(int64(len(all)))
		for _, c := range begin {
			c <- struct{}{}
		}
		<-finished
	}
	stop = func() {
		for _, c := range begin {
			close(c)
		}
		q.ShutDown()
		running.Wait()
	}
	return operation, stop
}

// requests returns n keys, the same ones each time. Most have the priority of a
// change, many the low one of an object that did not change, and a few a higher
// one, all in random order.
func requests(n int) []request {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]request, n)
	for i := range all {
		all[i].key = index.Key{
			Namespace: fmt.Sprintf("team-%03d", random.IntN(100)),
			Name:      fmt.Sprintf("web-%06d-7d4b9c6f5", i),
		}
		switch share := random.IntN(10); {
		case share < 1:
			all[i].priority = 100
		case share < 4:
			all[i].priority = queue.LowPriority
		}
	}
	return all
}
