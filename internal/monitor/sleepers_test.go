package monitor

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bed is a Sleepers with its lock, and how many were woken.
type bed struct {
	mu sync.Mutex
	Sleepers
	woken int
}

func (b *bed) sleep(ctx context.Context) {
	b.mu.Lock()
	s := b.Add()
	b.mu.Unlock()
	ended := s.Sleep(ctx)
	b.mu.Lock()
	b.Leave(s, ended)
	if !ended {
		b.woken++
	}
	b.mu.Unlock()
}

// TestOneIsWokenAtATime: the next one when that has looked, and who slept least first.
func TestOneIsWokenAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bed
		assert.Nil(t, b.Next(1), "nobody sleeps")
		for range 3 {
			go b.sleep(t.Context())
			synctest.Wait()
		}
		require.Equal(t, 3, b.Len())
		assert.Nil(t, b.Next(0), "there is nothing")
		last := b.sleeping[2]
		s := b.Next(5)
		assert.Same(t, last, s)
		assert.Nil(t, b.Next(5), "one is being woken")
		s.Wake()
		synctest.Wait()
		assert.Equal(t, 1, b.woken)
		b.Next(5).Wake()
		synctest.Wait()
		assert.Equal(t, 2, b.woken)
		assert.Equal(t, 1, b.Len())
		b.WakeAll()
		synctest.Wait()
		assert.Equal(t, 3, b.woken)
		assert.Zero(t, b.Len())
		assert.Len(t, b.free, 3, "they are used again")
		(*Sleeper)(nil).Wake()
	})
}

// TestASignalIsNotLeftBehind by who is woken at the moment at which its context ends.
func TestASignalIsNotLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bed
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			go b.sleep(ctx)
			synctest.Wait()
			s := b.Next(1)
			cancel()
			s.Wake()
			synctest.Wait()
			require.Empty(t, s.ready)
			require.Zero(t, b.Len())
			require.False(t, b.waking)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go b.sleep(ctx)
		go b.sleep(t.Context())
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.Equal(t, 1, b.Len(), "whoever it was is out")
		b.Next(1).Wake()
		synctest.Wait()
		require.Zero(t, b.Len())
	})
}
