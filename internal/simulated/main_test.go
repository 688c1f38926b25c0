package simulated_test

import (
	"flag"
	"os"
	"testing"
)

// seeds is how many seeds each suite runs unless a flag says otherwise: all suites of the
// module together run two hundred.
const seeds = "40"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "simulation.seeds" })
	if !given {
		if err := flag.Set("simulation.seeds", seeds); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
