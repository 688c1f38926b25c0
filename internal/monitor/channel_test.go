package monitor_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/monitor"
)

// TestLongLock: one holder at a time, and virtual time advances while others wait.
func TestLongLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sync.Locker = monitor.NewLongLock()
		var waited sync.WaitGroup
		holders, most := 0, 0
		begin := time.Now()
		for range 3 {
			waited.Go(func() {
				l.Lock()
				defer l.Unlock()
				holders++
				most = max(most, holders)
				time.Sleep(time.Second)
				holders--
			})
		}
		waited.Wait()
		assert.Equal(t, 1, most)
		assert.Equal(t, 3*time.Second, time.Since(begin))
	})
}
