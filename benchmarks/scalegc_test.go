package benchmarks

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// collection is a run of the garbage collector over all that is in the heap.
//
// A benchmark that allocates little ends long before the collector has to run:
// the heap may double first, and is mostly Pods. So whether some part of a run
// happens within a benchmark is chance, and says nothing about its cost. What
// does not depend on chance is how much of a run an operation brings about: the
// bytes that it allocates, of those that may be allocated from one run to the
// next. That share of the processor time of a whole run is what the operation
// costs, if it is done often enough. A side without allocations never makes the
// collector run.
//
// In a cluster the objects are allocated too, on both sides alike. That makes
// the collector run more often; what the informer adds stays the same.
//
// Over a million updates of client-go's informer, the collector took 1.1 times
// as much in fact with 10,000 objects, and 1.7 times with 1,000: it had to share
// the processors with them, which it has not here.
type collection struct {
	cpu  time.Duration // on all processors
	room uint64        // bytes from one run to the next
}

// share returns the processor time for allocating so many bytes, in
// nanoseconds.
func (c collection) share(bytes float64) float64 {
	return float64(c.cpu) * bytes / float64(c.room)
}

// collect runs the collector for 50 ms at least, and returns the live heap in
// bytes and what a run takes. The program should have nothing else to do.
//
// The time is that of runtime/metrics, which counts a run when it has ended. It
// is an estimate, and too high while other programs want the processors, so the
// fastest run counts. It includes processors that were idle and have helped, but
// not sweeping, which is done while allocating.
func collect() (heap int64, c collection) {
	c.cpu = math.MaxInt64
	for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
		before := readCollector()
		runtime.GC()
		after := readCollector()
		c = collection{cpu: min(c.cpu, after.cpu-before.cpu), room: after.goal - after.live}
		heap = int64(after.live)
	}
	return heap, c
}

// collector is a reading of runtime/metrics about the garbage collector.
type collector struct {
	cpu  time.Duration // that it has used so far
	live uint64        // bytes at the end of the last run
	goal uint64        // bytes at the end of the next run
}

func readCollector() collector {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/goal:bytes"},
	}
	metrics.Read(samples)
	return collector{
		cpu:  time.Duration(samples[0].Value.Float64() * float64(time.Second)),
		live: samples[1].Value.Uint64(),
		goal: samples[2].Value.Uint64(),
	}
}
