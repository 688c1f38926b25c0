package queue_test

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/workqueue"
)

func TestSuiteKeysComeInOrderAndOnce(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		assert.Zero(t, q.Len())
		add(q, "c", "a", "c", "", "b", "a", "")
		assert.Equal(t, 4, q.Len())
		assert.Equal(t, []string{"c", "a", "", "b"}, work(t, q), "the zero key is one as any other")
		add(q, "a")
		assert.Equal(t, []string{"a"}, work(t, q), "it can be added again")
	})
}

func TestSuiteKeyAddedWhileProcessed(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		add(q, "a", "b")
		require.Equal(t, "a", get(t, q))
		add(q, "a", "a", "c")
		assert.Equal(t, 2, q.Len(), "it does not wait as long as it is being processed")
		q.Done("a")
		assert.Equal(t, 3, q.Len())
		assert.Equal(t, []string{"b", "c", "a"}, work(t, q), "it waits once, at the end")
	})
}

func TestSuiteGetWaits(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		const workers = 3
		got := make(chan string, workers)
		for range workers {
			go func() {
				key, shutDown := q.Get()
				assert.False(t, shutDown)
				got <- key
			}()
		}
		synctest.Wait()
		require.Empty(t, got)

		add(q, "a")
		synctest.Wait()
		require.Len(t, got, 1, "one key is for one worker")
		add(q, "a")
		synctest.Wait()
		require.Len(t, got, 1, "nobody gets what is being processed")
		q.Done("a")
		add(q, "b")
		synctest.Wait()
		require.Len(t, got, 3)
		assert.Equal(t, "a", <-got)
		assert.ElementsMatch(t, []string{"a", "b"}, []string{<-got, <-got}, "whoever is faster")
	})
}

// TestSuiteEveryWorkerIsWoken adds many keys at once, for workers who all sleep.
func TestSuiteEveryWorkerIsWoken(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		const workers = 20
		got := make(chan string, workers)
		for range workers {
			go func() {
				key, _ := q.Get()
				got <- key // and keeps it
			}()
		}
		synctest.Wait()
		for i := range workers {
			q.Add(strconv.Itoa(i))
		}
		synctest.Wait()
		assert.Len(t, got, workers)
	})
}

func TestSuiteShutDown(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		add(q, "a", "b")
		require.Equal(t, "a", get(t, q))
		add(q, "a")
		assert.False(t, q.ShuttingDown())

		q.ShutDown()

		assert.True(t, q.ShuttingDown())
		add(q, "a", "b", "c")
		q.Done("a")
		assert.Equal(t, []string{"b", "a"}, work(t, q), "what was added before is handed out, nothing else")
		for range 2 {
			key, shutDown := q.Get()
			assert.True(t, shutDown)
			assert.Empty(t, key)
		}
		q.ShutDown()
		q.ShutDownWithDrain()
		assert.True(t, q.ShuttingDown())
	})
}

func TestSuiteShutDownReleasesWorkers(t *testing.T) {
	for name, stop := range map[string]func(sharedQueue){
		"at once": sharedQueue.ShutDown, "with drain": sharedQueue.ShutDownWithDrain,
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, q sharedQueue) {
				var released atomic.Int32
				for range 5 {
					go func() {
						_, shutDown := q.Get()
						assert.True(t, shutDown)
						released.Add(1)
					}()
				}
				synctest.Wait()
				require.Zero(t, released.Load())
				stop(q)
				synctest.Wait()
				assert.EqualValues(t, 5, released.Load())
			})
		})
	}
}

// drain calls ShutDownWithDrain and returns a function that reports whether it
// has returned.
func drain(q sharedQueue) (drained func() bool) {
	var done atomic.Bool
	go func() {
		q.ShutDownWithDrain()
		done.Store(true)
	}()
	drained = func() bool {
		synctest.Wait()
		return done.Load()
	}
	drained()
	return drained
}

func TestSuiteDrainWaitsForKeysInProcess(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		add(q, "a", "b")
		get(t, q)
		get(t, q)
		add(q, "b")
		drained := drain(q)
		assert.True(t, q.ShuttingDown())
		assert.False(t, drained())
		add(q, "c")
		q.Done("b")
		assert.False(t, drained())
		require.Equal(t, "b", get(t, q), "it was added before")
		q.Done("a")
		assert.False(t, drained())
		q.Done("b")
		assert.True(t, drained())
		_, shutDown := q.Get()
		assert.True(t, shutDown)
	})
}

func TestSuiteShutDownEndsADrain(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		add(q, "a")
		get(t, q)
		drained := drain(q)
		require.False(t, drained())
		q.ShutDown()
		assert.True(t, drained())
	})
}

// TestSuiteNothingIsLostOrProcessedTwice runs real producers and workers. Each key has a counter of
// its adds, and a worker that processes the key takes all of them.
func TestSuiteNothingIsLostOrProcessedTwice(t *testing.T) {
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			const keys, producers, workers, each = 50, 8, 8, 5000
			q := make(t, setup{})
			var asked, taken [keys]atomic.Int64
			var busy [keys]atomic.Bool
			var producing, working errgroup.Group
			for p := range producers {
				producing.Go(func() error {
					for i := range each {
						n := (i*7 + p*13) % keys
						asked[n].Add(1)
						q.Add(strconv.Itoa(n))
					}
					return nil
				})
			}
			for range workers {
				working.Go(func() error {
					for {
						key, shutDown := q.Get()
						if shutDown {
							return nil
						}
						n, err := strconv.Atoi(key)
						if err != nil {
							return err
						}
						assert.True(t, busy[n].CompareAndSwap(false, true), "key %d is with two workers", n)
						taken[n].Add(asked[n].Swap(0))
						busy[n].Store(false)
						q.Done(key)
					}
				})
			}
			require.NoError(t, producing.Wait())
			q.ShutDownWithDrain()
			require.NoError(t, working.Wait())
			q.ShutDown() // client-go's goroutine of delays outlives a drain
			for n := range keys {
				assert.EqualValues(t, producers*each/keys, taken[n].Load(), "key %d", n)
			}
			assert.Zero(t, q.Len())
		})
	}
}

// TestSuiteAddHappensBeforeGet has plain memory pass from who adds to who
// processes, which the race detector watches.
func TestSuiteAddHappensBeforeGet(t *testing.T) {
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			q := make(t, setup{})
			var value int
			var adding sync.WaitGroup
			adding.Go(func() {
				value = 42
				q.Add("a")
			})
			key, _ := q.Get()
			assert.Equal(t, 42, value)
			value++
			q.Done(key)
			adding.Wait()
			q.ShutDown()
		})
	}
}

// TestSuiteKeysAreLetGo looks at the garbage collector.
func TestSuiteKeysAreLetGo(t *testing.T) {
	for name, q := range map[string]workqueue.TypedInterface[any]{
		"client-go": workqueue.NewTyped[any](), "typed": newQueue[any](t),
	} {
		pointer := func() weak.Pointer[[64]byte] {
			k := new([64]byte)
			q.Add(k)
			return weak.Make(k)
		}()
		runtime.GC()
		require.NotNil(t, pointer.Value(), name)
		func() {
			k, _ := q.Get()
			q.Done(k)
		}()
		runtime.GC()
		assert.Nil(t, pointer.Value(), name)
		runtime.KeepAlive(q)
	}
}
