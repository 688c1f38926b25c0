//go:debug randseednop=0
package simulation_test

import (
	"testing"

	"github.com/kubetyped/informer/typed/typedtest/simulation"
)

func TestSameSeedSameTrace(t *testing.T) {
	for seed := range uint64(10) {
		sums, traces := simulation.Sums(t, defineInformer, seed+1, 20)
		other := 0
		for i := range sums {
			if sums[i] != sums[0] {
				other++
				if other == 1 {
					for k := range traces[0] {
						if k >= len(traces[i]) || traces[0][k] != traces[i][k] {
							t.Log(traces[0][max(0, k-3):min(len(traces[0]), k+3)], "\n\n", traces[i][max(0, k-3):min(len(traces[i]), k+3)])
							break
						}
					}
				}
			}
		}
		t.Log(seed+1, other)
	}
}
