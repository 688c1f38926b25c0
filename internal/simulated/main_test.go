package simulated_test

import (
	"flag"
	"os"
	"testing"
)

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
