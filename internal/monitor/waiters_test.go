package monitor

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func isWoken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWaiters(t *testing.T) {
	var l Waiters
	l.Wake()
	a, leaveA := l.Add()
	b, leaveB := l.Add()
	assert.False(t, isWoken(a), "nothing has happened since it came")
	l.Wake()
	l.Wake()
	assert.True(t, isWoken(a))
	assert.False(t, isWoken(a), "twice is once for who has not looked")
	leaveA()
	leaveA()
	l.Wake()
	assert.False(t, isWoken(a))
	assert.True(t, isWoken(b))
	leaveB()
	assert.Empty(t, l.channels, "nobody is kept")
}

// TestNothingIsMissed has many change a number, and one wait until it has seen the last one.
func TestNothingIsMissed(t *testing.T) {
	var l Waiters
	var mu sync.Mutex
	number := 0
	woken, leave := l.Add()
	defer leave()
	var changing sync.WaitGroup
	for range 8 {
		changing.Go(func() {
			for range 1000 {
				mu.Lock()
				number++
				mu.Unlock()
				l.Wake()
			}
		})
	}
	for last := 0; last < 8000; {
		<-woken
		mu.Lock()
		last = number
		mu.Unlock()
	}
	changing.Wait()
}
