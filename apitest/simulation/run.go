package simulation

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
)

// Run runs a simulation with one seed after the other, each in its own bubble of
// testing/synctest. define adds the processes and the checks; it is called for each seed, in
// its bubble, and its values belong to that seed alone.
//
// A seed that fails is made smaller first, by leaving out faults and acts of users that
// it does not take; then the test fails, with the seed, the command that runs it again,
// and the trace of what happened.
//
// Flags of go test say which seeds there are: see the documentation of the package.
func Run(t *testing.T, define func(s *Simulation)) {
	t.Helper()
	if oneSeed != nil {
		again(t, define)
		return
	}
	count := *seeds
	if *lasting > 0 {
		count = 1 << 62
	}
	workers := *parallel
	if workers == 0 && count > 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	b := &batch{define: define, next: *firstSeed, last: *firstSeed + count - 1, begun: time.Now()}
	if workers <= 1 {
		b.work(t)
	} else {
		b.spread(t, workers)
	}
	t.Log(b.progress())
}

// Find runs seeds until one fails, and returns how, or nil if none of so many does. It is
// for tests of simulations: one that is to find a bug is given a program that has it.
func Find(t *testing.T, seeds uint64, define func(s *Simulation)) *Failure {
	t.Helper()
	for seed := *firstSeed; seed < *firstSeed+seeds; seed++ {
		if one := attempt(t, define, seed, nil, false); one.failed != nil {
			return one.failed
		}
	}
	return nil
}

// batch is a number of seeds.
type batch struct {
	define func(*Simulation)
	begun  time.Time
	last   uint64

	mu      sync.Mutex
	next    uint64        // guarded by mu
	told    time.Time     // guarded by mu; when progress was printed
	done    int           // guarded by mu
	virtual time.Duration // guarded by mu
	faults  int           // guarded by mu
	events  int           // guarded by mu

	failed atomic.Bool
}

// spread has several workers run seeds.
func (b *batch) spread(t *testing.T, workers int) {
	t.Run("workers", func(t *testing.T) {
		for i := range workers {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				b.work(t)
			})
		}
	})
}

// take returns the next seed.
func (b *batch) take() (uint64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next > b.last || b.failed.Load() || *lasting > 0 && time.Since(b.begun) > *lasting {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

// work runs seeds until there are no more, or one has failed.
func (b *batch) work(t *testing.T) {
	for seed, ok := b.take(); ok; seed, ok = b.take() {
		one := attempt(t, b.define, seed, nil, false)
		if one.failed != nil {
			b.failed.Store(true)
			report(t, b.define, one)
			return
		}
		b.count(one)
	}
}

// count adds what a seed was, and prints progress now and then.
func (b *batch) count(one outcome) {
	b.mu.Lock()
	b.done++
	b.virtual += one.virtual
	b.faults += len(one.plan.faults)
	b.events += one.events
	due := time.Since(b.begun) > 10*time.Second && time.Since(b.told) > 10*time.Second
	if due {
		b.told = time.Now()
	}
	b.mu.Unlock()
	if due {
		_, _ = fmt.Fprintln(os.Stderr, b.progress())
	}
}

// progress reports how far the seeds are.
func (b *batch) progress() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	took := time.Since(b.begun)
	return fmt.Sprintf("simulation: %d seeds in %v, %.0f a minute; %v of virtual time, %d faults, %d events",
		b.done, took.Round(time.Second), float64(b.done)/took.Minutes(), b.virtual.Round(time.Minute), b.faults, b.events)
}

// outcome is how a seed went.
type outcome struct {
	plan    plan
	failed  *Failure
	virtual time.Duration
	events  int // lines of the trace
	trace   []string
}

// attempt runs a seed, or the part of its plan that cut leaves.
func attempt(t *testing.T, define func(*Simulation), seed uint64, cut func(plan) plan, detailed bool) outcome {
	var one outcome
	var w atomic.Pointer[world]
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watch(seed, &w, ended) })
	defer watching.Wait()
	defer close(ended)
	synctest.Test(t, func(*testing.T) {
		s := &Simulation{}
		define(s)
		p := newPlan(seed, s, servers)
		if cut != nil {
			p = cut(p)
		}
		one = simulate(p, s, detailed, &w)
	})
	return one
}

// simulate makes a plan happen, in the bubble of its caller.
func simulate(p plan, s *Simulation, detailed bool, watched *atomic.Pointer[world]) outcome {
	seedProcess(p.seed)
	w, err := newWorld(p, s, detailed)
	if err != nil {
		return outcome{plan: p, failed: &Failure{Seed: p.seed, Check: "start", Err: err}}
	}
	watched.Store(w)
	w.run()
	one := outcome{plan: p, virtual: w.elapsed()}
	err = w.stop()
	if err == nil {
		err = leftovers()
	}
	if err != nil {
		w.fail("end", err)
	}
	one.failed, one.events, one.trace = w.failure(), w.trace.count, w.trace.lines
	return one
}

// Fuzz runs a simulation as a fuzz target: the fuzzer chooses the seeds.
//
//	func FuzzController(f *testing.F) {
//		simulation.Fuzz(f, defineController)
//	}
func Fuzz(f *testing.F, define func(s *Simulation)) {
	if oneSeed != nil {
		f.Add(*oneSeed)
		f.Fuzz(func(t *testing.T, seed uint64) {
			if seed == *oneSeed {
				again(t, define)
			}
		})
		return
	}
	for seed := range *seeds {
		f.Add(*firstSeed + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if one := attempt(t, define, seed, nil, false); one.failed != nil {
			report(t, define, one)
		}
	})
}

// seedProcess has those random numbers follow from a seed that are the same for the whole
// program: client-go's jitter, names that apimachinery generates. Go lets it only if the
// program says so, see the documentation of the package.
func seedProcess(seed uint64) {
	//lint:ignore SA1019 what client-go draws can be decided in no other way
	rand.Seed(int64(seed))
	utilrand.Seed(int64(seed))
}

// Failure is why a simulation has failed.
type Failure struct {
	Seed  uint64
	Check string        // what should have been so, or "process" and its name
	After time.Duration // how much virtual time had gone by
	Err   error         // of the check
}

// Error implements error.
func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d: %s, after %v: %v", f.Seed, f.Check, f.After, f.Err)
}

// Unwrap returns the error of the check.
func (f *Failure) Unwrap() error { return f.Err }

var (
	seeds     = flag.Uint64("simulation.seeds", 40, "how many seeds each simulation runs")
	firstSeed = flag.Uint64("simulation.first", 1, "the first seed")
	lasting   = flag.Duration("simulation.for", 0, "run seeds for so long, whatever simulation.seeds says")
	parallel  = flag.Int("simulation.parallel", 0, "how many seeds run at once; 0: as many as there are processors")
	someOf    = flag.String("simulation.faults", "", "of simulation.seed, the faults to make, by number: 3,17 or none")
	someActs  = flag.String("simulation.acts", "", "of simulation.seed, the acts of users to make, by number: 3,17 or none")
	shrinking = flag.Duration("simulation.shrink", 30*time.Second, "how long, of real time, a seed that fails is made smaller; 0: not at all")
	stuck     = flag.Duration("simulation.stuck", time.Minute, "how long, of real time, nothing may happen")
)

// oneSeed is the seed to run alone; nil: all.
var oneSeed *uint64

func init() {
	flag.Func("simulation.seed", "run this `seed` alone, and print its trace", func(text string) error {
		seed, err := strconv.ParseUint(text, 10, 64)
		oneSeed = &seed
		return err
	})
}
