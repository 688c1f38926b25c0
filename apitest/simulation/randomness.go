package simulation

import (
	"math/rand"

	utilrand "k8s.io/apimachinery/pkg/util/rand"
)

// seedProcess has those random numbers follow from a seed that are the same for the whole
// program: client-go's jitter, names that apimachinery generates. Go lets it only if the
// program says so, see the documentation of the package.
func seedProcess(seed uint64) {
	//lint:ignore SA1019 what client-go draws can be decided in no other way
	rand.Seed(int64(seed))
	utilrand.Seed(int64(seed))
}
