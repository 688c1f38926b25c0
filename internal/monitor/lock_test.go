package monitor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// journal is guarded by a Lock, for which numbers are left that it notes.
type journal struct {
	Lock[int]
	noted []int
}

func newJournal() *journal {
	j := &journal{}
	j.Do(func() {
		for n, ok := j.Next(); ok; n, ok = j.Next() {
			j.noted = append(j.noted, n)
		}
	})
	return j
}

// unlock gives the lock up for good.
func (j *journal) unlock() {
	for again := true; again; {
		j.CatchUp()
		again = j.Unlock()
	}
}

// whileHeld calls something while the lock is held, which is then given up as if nothing had
// happened.
func (j *journal) whileHeld(call func()) {
	j.Mutex.Lock()
	defer j.Mutex.Unlock()
	call()
}

// TestLockingCompletesLeftWork in its order, and who cannot leaves it to others.
func TestLockingCompletesLeftWork(t *testing.T) {
	for name, take := range map[string]func(j *journal){
		"Lock":    func(j *journal) { j.Lock.Lock() },
		"TryLock": func(j *journal) { require.True(t, j.TryLock()) },
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal()
			j.whileHeld(func() {
				assert.False(t, j.Leave(1))
				assert.False(t, j.Leave(2))
				assert.False(t, j.TryLock())
				assert.Empty(t, j.noted, "nobody has done it")
			})
			take(j)
			assert.Equal(t, []int{1, 2}, j.noted)
			assert.False(t, j.Leave(3))
			j.CatchUp()
			assert.Equal(t, []int{1, 2, 3}, j.noted)
			assert.False(t, j.Unlock(), "there is no more")
			require.True(t, j.Mutex.TryLock(), "it was given up")
		})
	}
}

// TestUnlockTakesTheLockAgain if work was left, unless another caller has taken it.
func TestUnlockTakesTheLockAgain(t *testing.T) {
	j := newJournal()
	j.Lock.Lock()
	assert.False(t, j.Leave(1))
	require.True(t, j.Unlock())
	assert.False(t, j.Mutex.TryLock(), "the caller holds it")
	assert.Empty(t, j.noted)
	j.unlock()
	assert.Equal(t, []int{1}, j.noted)

	// A caller that leaves work while the lock is free has to do it.
	require.True(t, j.Leave(2))
	assert.False(t, j.Mutex.TryLock())
	j.unlock()
	assert.Equal(t, []int{1, 2}, j.noted)
}

// TestWorkLeftBetweenIsKept: a request that is left while others are being taken over.
func TestWorkLeftBetweenIsKept(t *testing.T) {
	j := newJournal()
	for l := &j.Lock; l.spare.Get() != nil; {
	}
	// get is called between the read of the newest request and its exchange.
	j.whileHeld(func() {
		once := true
		j.spare.New = func() any {
			if once {
				once = false
				j.Leave(1)
			}
			return nil
		}
		j.Leave(2)
	})
	j.Lock.Lock()
	assert.Equal(t, []int{1, 2}, j.noted)
	j.unlock()
}

// TestDoneRequestsReferToNothing that would be kept alive, and are used again.
func TestDoneRequestsReferToNothing(t *testing.T) {
	var l Lock[*int]
	l.Do(func() {
		for _, ok := l.Next(); ok; _, ok = l.Next() {
		}
	})
	older := &request[*int]{of: new(int)}
	newer := &request[*int]{of: new(int), next: older}
	l.left.Store(newer)
	l.Lock()
	assert.Nil(t, l.left.Load())
	assert.Nil(t, l.taken)
	assert.Zero(t, *older)
	assert.Zero(t, *newer)
	assert.False(t, l.Unlock())
}

// TestCrowd: some goroutines leave requests, and others hold the lock. Each request is done once,
// in the order of its goroutine, and before a Lock that begins later.
func TestCrowd(t *testing.T) {
	const crowd, each = 8, 2000
	var j struct {
		Lock[[2]int]
		done [crowd]int
	}
	bad := ""
	j.Do(func() {
		for r, ok := j.Next(); ok; r, ok = j.Next() {
			if j.done[r[0]] != r[1] {
				bad = "out of order, lost or done twice"
			}
			j.done[r[0]]++
		}
	})
	unlock := func() {
		for again := true; again; {
			j.CatchUp()
			again = j.Unlock()
		}
	}
	var left [crowd]atomic.Int64
	var all sync.WaitGroup
	for who := range crowd {
		all.Go(func() {
			for i := range each {
				if j.Leave([2]int{who, i}) {
					unlock()
				}
				left[who].Add(1)
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		})
		all.Go(func() {
			for range each {
				returned := left[who].Load()
				j.Lock.Lock()
				if int64(j.done[who]) < returned {
					bad = "a request that was left is not done"
				}
				unlock()
			}
		})
	}
	all.Wait()
	assert.Empty(t, bad)
	for who := range crowd {
		assert.Equal(t, each, j.done[who], "nobody has to call for the last of them to be done")
	}
}
