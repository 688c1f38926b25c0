package timing

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

func TestTheTimeIsThatOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Unix(1_000_000_000, 0)
		fake := testingclock.NewFakeClock(began)
		real, other := StartStopwatch(clock.RealClock{}), StartStopwatch(fake)
		assert.True(t, real.Real)
		assert.False(t, other.Real)
		time.Sleep(time.Second)
		fake.Step(time.Hour)
		assert.Equal(t, time.Second, real.Now())
		assert.Equal(t, time.Hour, other.Now())
		assert.Equal(t, began.Add(time.Minute), other.At(time.Minute))
		assert.True(t, real.At(real.Now()).Equal(time.Now()))
	})
}

func TestLaterDoesNotOverflow(t *testing.T) {
	assert.EqualValues(t, 5, Later(2, 3))
	assert.EqualValues(t, math.MaxInt64, Later(2, math.MaxInt64-2))
	assert.EqualValues(t, math.MaxInt64, Later(2, math.MaxInt64-1))
}
