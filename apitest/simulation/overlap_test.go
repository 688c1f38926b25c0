package simulation

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestOverlappingFaults: a fault lasts as long as it is to, even if another one of its kind ends
// meanwhile.
func TestOverlappingFaults(t *testing.T) {
	p := &process{}
	isFrozen := func() bool { return p.frozen[back] != nil }
	thawFirst, thawSecond := p.freeze(back), p.freeze(back)
	frozen := p.frozen[back]
	thawFirst()
	assert.True(t, isFrozen())
	thawSecond()
	assert.False(t, isFrozen())
	assert.True(t, isClosed(frozen))
	p.freeze(back)()
	assert.False(t, isFrozen())

	takes := func() time.Duration { return p.takes(rand.New(rand.NewPCG(1, 2))) }
	usual := takes()
	endFirst, endSecond := p.slow(4), p.slow(8)
	assert.Equal(t, 8*usual, takes(), "the slower one counts")
	endSecond()
	assert.Equal(t, 4*usual, takes())
	endSecond = p.slow(2)
	endFirst()
	assert.Equal(t, 2*usual, takes())
	endSecond()
	assert.Equal(t, usual, takes())
}
