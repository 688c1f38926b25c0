package timing

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/clock"
)

// TestWatchdog reports a long call once, and its duration in the end.
func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := StartStopwatch(clock.RealClock{})
		var mu sync.Mutex
		var told, stacks []string
		w := NewWatchdog(&watch, time.Minute, func(key string, began time.Duration, stack func() string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, key+" "+began.String())
			stacks = append(stacks, stack())
		})
		assert.Zero(t, w.End(), "none was under way")
		w.Begin("a")
		time.Sleep(59 * time.Second)
		assert.Equal(t, 59*time.Second, w.End())
		w.Begin("b")
		time.Sleep(59 * time.Second)
		synctest.Wait()
		mu.Lock()
		assert.Empty(t, told)
		mu.Unlock()
		time.Sleep(time.Hour)
		mu.Lock()
		assert.Equal(t, []string{"b 59s"}, told)
		assert.Contains(t, stacks[0], "timing.TestWatchdog")
		mu.Unlock()
		assert.Equal(t, time.Hour+59*time.Second, w.End())
		w.Begin("c")
		w.End()
		began := time.Now()
		w.Stop()
		assert.Equal(t, time.Since(began), time.Duration(0), "nobody waits for the timer")
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		assert.Len(t, told, 1)
	})
}

// TestStackOfAReturnedCall is not that of what the goroutine does then.
func TestStackOfAReturnedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := StartStopwatch(clock.RealClock{})
		var stack string
		var w *Watchdog[int]
		w = NewWatchdog(&watch, time.Second, func(_ int, _ time.Duration, of func() string) {
			w.End() // as if the call returned now
			stack = of()
		})
		w.Begin(1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, "it has returned", stack)
		w.Stop()
	})
}

// TestNoWatchdog does nothing.
func TestNoWatchdog(t *testing.T) {
	var w *Watchdog[int]
	w.Begin(1)
	assert.Zero(t, w.End())
	w.Stop()
}
