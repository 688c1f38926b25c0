package loglimit_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/loglimit"
)

// log is a Trouble, and when what was logged of it.
type log struct {
	loglimit.Trouble
	began time.Time
	mu    sync.Mutex
	lines []string // guarded by mu
}

func newLog() *log { return &log{began: time.Now()} }

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%v ", time.Since(l.began))+fmt.Sprintf(format, args...))
}

func (l *log) fail() {
	if failures, since, tell := l.Fail(); tell {
		l.add("fails %d since %v", failures, since.Sub(l.began))
	}
}

func (l *log) work() {
	l.Work(func(failures int, since, worked time.Time) {
		l.add("works after %d since %v", failures, worked.Sub(l.began))
	})
}

// take returns the lines since the last call.
func (l *log) take() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// TestGrowingIntervals: what fails for long is logged at once, then ever more rarely, but
// every ten minutes; and once when it works.
func TestGrowingIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		for range 8000 {
			l.fail()
			time.Sleep(time.Second / 2)
		}
		assert.Equal(t, []string{
			"0s fails 1 since 0s", "1s fails 3 since 0s", "3s fails 7 since 0s", "7s fails 15 since 0s", "15s fails 31 since 0s", "31s fails 63 since 0s",
			"1m3s fails 127 since 0s", "2m7s fails 255 since 0s", "4m15s fails 511 since 0s", "8m31s fails 1023 since 0s", "17m3s fails 2047 since 0s",
			"27m3s fails 3247 since 0s", "37m3s fails 4447 since 0s", "47m3s fails 5647 since 0s", "57m3s fails 6847 since 0s",
		}, l.take())
		l.work()
		time.Sleep(time.Minute)
		l.work()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1h6m50s works after 8000 since 1h6m40s"}, l.take())
		time.Sleep(10 * time.Minute)
		l.fail()
		assert.Equal(t, []string{"1h18m40s fails 1 since 1h18m40s"}, l.take(), "a new trouble is told at once")
		l.End()
	})
}

// TestFlapping: what works for a moment before it fails again does not work.
func TestFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		for range 100 {
			l.fail()
			time.Sleep(time.Second)
			l.work()
			time.Sleep(5 * time.Second)
		}
		assert.Equal(t, []string{
			"0s fails 1 since 0s", "6s fails 2 since 0s", "12s fails 3 since 0s", "18s fails 4 since 0s", "30s fails 6 since 0s", "48s fails 9 since 0s",
			"1m24s fails 15 since 0s", "2m30s fails 26 since 0s", "4m42s fails 48 since 0s", "9m0s fails 91 since 0s",
		}, l.take())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"10m5s works after 100 since 9m55s"}, l.take())

		// It fails again and again, and works for a while in between: each pair of lines is
		// true, and there are few.
		for range 60 {
			l.fail()
			l.work()
			time.Sleep(time.Minute)
		}
		lines := l.take()
		assert.LessOrEqual(t, len(lines), 2*7, "%v", lines)
		assert.GreaterOrEqual(t, len(lines), 2*6, "%v", lines)
		l.End()
	})
}

// TestEnd: nothing is logged after End.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		l.work()
		l.fail()
		l.work()
		time.Sleep(time.Second)
		l.End()
		l.work()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"0s fails 1 since 0s"}, l.take())
	})
}
