package timing

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

// bell wraps an Alarm, and notes when it looks.
type bell struct {
	*Alarm
	mu    sync.Mutex
	watch Stopwatch
	looks []time.Duration
	then  time.Duration // when to look next
}

func newBell(c clock.Clock) *bell {
	b := &bell{watch: StartStopwatch(c), then: Never}
	b.Alarm = NewAlarm(&b.watch, func() (now, next time.Duration) {
		b.mu.Lock()
		defer b.mu.Unlock()
		now = b.watch.Now()
		b.looks = append(b.looks, now)
		next = b.then
		if next <= now {
			next = Never
		}
		return now, b.Next(next)
	})
	return b
}

func (b *bell) at(at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.then = at
	b.At(at)
}

// TestAlarmLooksInTime, earlier if that is said later, and has no goroutine otherwise.
func TestAlarmLooksInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBell(clock.RealClock{})
		assert.False(t, b.Runs())
		b.at(time.Minute)
		synctest.Wait()
		assert.True(t, b.Runs())
		b.at(time.Second)
		b.at(time.Second)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []time.Duration{0, 0, time.Second}, b.looks, "it looks when it starts")
		assert.False(t, b.Runs())
		b.Wait()

		b.looks = nil
		b.at(2 * time.Hour)
		time.Sleep(time.Minute)
		b.Now()
		synctest.Wait()
		assert.Len(t, b.looks, 2)
		b.mu.Lock()
		b.then = Never
		b.mu.Unlock()
		b.Now()
		b.Wait()
		synctest.Wait()
		assert.Len(t, b.looks, 3)
	})
}

// TestAlarmByAnotherClock goes by that, whatever the real one says.
func TestAlarmByAnotherClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testingclock.NewFakeClock(time.Now())
		b := newBell(c)
		b.at(time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Len(t, b.looks, 1)
		c.Step(time.Minute)
		b.Wait()
		synctest.Wait()
		assert.Equal(t, []time.Duration{0, time.Minute}, b.looks)
	})
}
