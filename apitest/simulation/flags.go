package simulation

import (
	"flag"
	"strconv"
	"time"
)

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
