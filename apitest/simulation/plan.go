package simulation

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// plan is what a seed decides before anything happens: which faults there are, when, and
// when users do something. Everything in it has a number, so that a plan can do without
// some of it and leave the rest as it is.
type plan struct {
	seed   uint64
	length time.Duration
	faults []fault
	acts   []act
}

// fault is something that goes wrong.
type fault struct {
	number  int
	at      time.Duration
	kind    Kind
	process int           // which one
	server  int           // which one, if the kind needs one
	lasts   time.Duration // how long, if the kind lasts
	times   int           // how often, if the kind counts
	variant int           // which of several ways the kind has
}

// act is something that users do.
type act struct {
	number int
	at     time.Duration
	which  int // of the functions that Do was given
}

// defaultLength is how long there are faults at least.
const defaultLength = 10 * time.Minute

// newPlan returns the plan of a seed.
func newPlan(seed uint64, s *Simulation, servers int) plan {
	random := randomFor(seed, "plan")
	p := plan{seed: seed, length: cmp.Or(s.length, defaultLength)}
	p.length += time.Duration(random.Int64N(int64(p.length)/2 + 1))
	kinds := s.kinds
	if kinds == nil {
		kinds = Kinds()
	}
	// A seed has some kinds of faults only: what each of them does is seen better.
	if len(kinds) > 4 && random.IntN(3) > 0 {
		kinds = slices.Clone(kinds)
		random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		kinds = kinds[:2+random.IntN(len(kinds)-2)]
	}
	// What goes wrong comes together: incidents of some faults, at which users do
	// something as well.
	for incidents := 8 + random.IntN(6); incidents > 0 || len(p.faults) < leastFaults && len(kinds) > 0; incidents-- {
		at := time.Duration(random.Int64N(int64(p.length)))
		if len(kinds) > 0 {
			for range 2 + random.IntN(3) {
				p.faults = append(p.faults, newFault(len(p.faults), near(random, at, p.length), kinds[random.IntN(len(kinds))], len(s.processes), servers, random))
			}
		}
		if len(s.acts) > 0 {
			for range 1 + random.IntN(5) {
				p.acts = append(p.acts, act{len(p.acts), near(random, at, p.length), random.IntN(len(s.acts))})
			}
		}
	}
	slices.SortStableFunc(p.faults, func(a, b fault) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(p.acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return p
}

// leastFaults is how many faults a plan has at least.
const leastFaults = 20

// near returns a moment of a plan not long after another one: milliseconds, seconds, or
// half a minute.
func near(random *rand.Rand, at, end time.Duration) time.Duration {
	scale := []time.Duration{10 * time.Millisecond, time.Second, 30 * time.Second}[random.IntN(3)]
	return min(at+time.Duration(random.Int64N(int64(scale))), end)
}

func newFault(number int, at time.Duration, kind Kind, processes, servers int, random *rand.Rand) fault {
	return fault{
		number: number, at: at, kind: kind, process: random.IntN(max(1, processes)), server: 1 + random.IntN(servers-1),
		lasts:   10 * time.Millisecond << random.IntN(15), // to 164 s
		times:   1 + random.IntN(8),
		variant: random.IntN(1 << 16),
	}
}

// only returns the plan with just those faults and acts whose numbers are kept.
func (p plan) only(faults, acts func(number int) bool) plan {
	p.faults = slices.DeleteFunc(slices.Clone(p.faults), func(f fault) bool { return !faults(f.number) })
	p.acts = slices.DeleteFunc(slices.Clone(p.acts), func(a act) bool { return !acts(a.number) })
	return p
}

// randomFor returns random numbers that follow from a seed and their purpose. So they do not
// depend on the order of the calls.
func randomFor(seed uint64, what ...string) *rand.Rand {
	hash := fnv.New64a()
	for _, part := range what {
		_, _ = hash.Write([]byte(part))
		_, _ = hash.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}
