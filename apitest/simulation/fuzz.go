package simulation

import "testing"

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
