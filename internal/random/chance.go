// Package random provides the random numbers for waits and timeouts. They are Go's own, unless
// a context derives them from a seed, as that of a simulation does.
package random

import (
	"context"
	"math/rand/v2"
	"sync"
)

// Source makes random numbers. It may be used by several goroutines at once.
type Source struct {
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
}

// NewSource returns a Source that makes those of random, which no other code may use.
func NewSource(random *rand.Rand) *Source { return &Source{random: random} }

type sourceKey struct{}

// With returns a context in which random numbers are those of a source.
func With(ctx context.Context, s *Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// From returns the source of a context, nil if it has none.
func From(ctx context.Context) *Source {
	s, _ := ctx.Value(sourceKey{}).(*Source)
	return s
}

// Int64N returns a number of at least 0 and less than n, which is positive. A nil
// Source makes Go's own.
func (s *Source) Int64N(n int64) int64 {
	if s == nil {
		return rand.Int64N(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Int64N(n)
}

// Float64 returns a number of at least 0 and less than 1. A nil Source makes Go's own.
func (s *Source) Float64() float64 {
	if s == nil {
		return rand.Float64()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Float64()
}
