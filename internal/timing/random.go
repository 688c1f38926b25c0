package timing

import (
	"context"
	"math/rand/v2"
	"sync"
)

// Random makes the random numbers of waits and timeouts. They are Go's own, unless a context
// derives them from a seed, as that of a simulation does. It may be used by several goroutines at
// once.
type Random struct {
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
}

// NewRandom returns a Random that makes those of random, which no other code may use.
func NewRandom(random *rand.Rand) *Random { return &Random{random: random} }

type randomKey struct{}

// WithRandom returns a context in which the random numbers are those of r.
func WithRandom(ctx context.Context, r *Random) context.Context {
	return context.WithValue(ctx, randomKey{}, r)
}

// RandomFrom returns the Random of a context, nil if it has none.
func RandomFrom(ctx context.Context) *Random {
	r, _ := ctx.Value(randomKey{}).(*Random)
	return r
}

// Int64N returns a number of at least 0 and less than n, which is positive. A nil
// Random makes Go's own.
func (r *Random) Int64N(n int64) int64 {
	if r == nil {
		return rand.Int64N(n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.Int64N(n)
}

// Float64 returns a number of at least 0 and less than 1. A nil Random makes Go's own.
func (r *Random) Float64() float64 {
	if r == nil {
		return rand.Float64()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.Float64()
}
