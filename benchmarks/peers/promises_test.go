package peers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// The tests below show where the sides differ. If one fails for
// controller-runtime, it does better than it did: then doc.go has to be changed.

var keyA, keyB, keyC = index.Key{Name: "a"}, index.Key{Name: "b"}, index.Key{Name: "c"}

// TestLowPriorities adds a key of a low priority that waits while there are always others of a
// higher one.
func TestLowPriorities(t *testing.T) {
	const rounds = 5_000
	// turn returns when the key was handed out, 0 if it was not.
	turn := func(q priorityQueue) int {
		defer q.ShutDown()
		q.add(&request{key: keyA, priority: queue.LowPriority})
		q.add(&request{key: keyB})
		for round := 1; round <= rounds; round++ {
			q.add(&request{key: keyC})
			key, _ := q.Get()
			q.Done(key)
			if key == keyA {
				return round
			}
			q.add(&request{key: keyB})
		}
		return 0
	}
	assert.Equal(t, 33, turn(typedSide.make(t)), "the default is to pass it over 32 times")
	assert.Equal(t, 6, turn(newTyped(t, queue.WithAgeing(5))))
	assert.Zero(t, turn(controllerRuntimeSide.make(t)))
}

// TestDrain has one key in process and two waiting when ShutDownWithDrain is
// called.
func TestDrain(t *testing.T) {
	drain := func(t *testing.T, s side, rest func(q priorityQueue, returned *bool)) {
		synctest.Test(t, func(t *testing.T) {
			q := s.make(t)
			for _, key := range []index.Key{keyA, keyB, keyC} {
				q.Add(key)
			}
			key, _ := q.Get()
			require.Equal(t, keyA, key)
			returned := false
			go func() {
				q.ShutDownWithDrain()
				returned = true
			}()
			synctest.Wait()
			rest(q, &returned)
			synctest.Wait()
			assert.True(t, returned)
			_, shutDown := q.Get()
			assert.True(t, shutDown)
		})
	}
	t.Run(typedSide.impl, func(t *testing.T) {
		drain(t, typedSide, func(q priorityQueue, returned *bool) {
			for _, want := range []index.Key{keyB, keyC} {
				key, shutDown := q.Get()
				assert.False(t, shutDown)
				assert.Equal(t, want, key)
				q.Done(key)
			}
			synctest.Wait()
			assert.False(t, *returned, "a key is still in process")
			q.Done(keyA)
		})
	})
	t.Run(controllerRuntimeSide.impl, func(t *testing.T) {
		drain(t, controllerRuntimeSide, func(_ priorityQueue, returned *bool) {
			assert.True(t, *returned, "nothing is waited for")
		})
	})
}

// TestAddOfDelayedKey adds a key at once that is to be added in an hour.
func TestAddOfDelayedKey(t *testing.T) {
	for _, test := range []struct {
		side
		later int
	}{
		{typedSide, 1},             // the delay is independent of the add
		{controllerRuntimeSide, 0}, // the add has ended the delay
	} {
		t.Run(test.impl, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := test.make(t)
				defer q.ShutDown()
				q.AddAfter(keyA, time.Hour)
				q.Add(keyA)
				key, _ := q.Get()
				require.Equal(t, keyA, key)
				q.Done(keyA)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				assert.Equal(t, test.later, q.Len())
			})
		})
	}
}

// TestAddOfKeyInProcess adds a key that is in process, then another one.
func TestAddOfKeyInProcess(t *testing.T) {
	for _, test := range []struct {
		side
		waiting int
		next    index.Key
	}{
		{typedSide, 1, keyB},             // the key takes its place when it is done
		{controllerRuntimeSide, 2, keyA}, // it has had it since it was added
	} {
		t.Run(test.impl, func(t *testing.T) {
			q := test.make(t)
			defer q.ShutDown()
			q.Add(keyA)
			key, _ := q.Get()
			require.Equal(t, keyA, key)
			q.Add(keyA)
			q.Add(keyB)
			assert.Equal(t, test.waiting, q.Len())
			q.Done(keyA)
			next, _ := q.Get()
			assert.Equal(t, test.next, next)
		})
	}
}
