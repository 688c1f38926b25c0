package differential

import (
	"encoding/binary"
	"math/rand/v2"
)

// Choices returns the choices that the input of a fuzz target stands for: two bytes each,
// and those of a seed when there are no more.
func Choices(input []byte) *rand.Rand {
	return rand.New(&choices{input, rand.NewPCG(uint64(len(input)), 1)})
}

type choices struct {
	input []byte
	rest  *rand.PCG
}

// Uint64 implements rand.Source. The first bits decide a choice among few.
func (c *choices) Uint64() uint64 {
	if len(c.input) < 2 {
		return c.rest.Uint64()
	}
	n := binary.BigEndian.Uint16(c.input)
	c.input = c.input[2:]
	return uint64(n)<<48 | c.rest.Uint64()>>16
}

// one returns one of some.
func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// rarely reports true once in so many times.
func rarely(r *rand.Rand, often int) bool { return r.IntN(often) == 0 }
