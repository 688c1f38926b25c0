package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// TestKeysAreProcessed: a queue loses no key and no delay, and gives a key to one worker.
func TestKeysAreProcessed(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("queue", func(ctx context.Context, _ *rest.Config) error {
			q, err := queue.NewWorkQueue[index.Key]()
			if err != nil {
				return err
			}
			k := &keys{queue: q, random: simulation.Random(ctx), all: map[index.Key]*asked{}}
			for n := range keyCount {
				k.all[numbered(n)] = &asked{}
			}
			simulation.Always(ctx, "keys are processed in time, by one worker", k.check)
			simulation.Eventually(ctx, "keys have been processed in time", goal, k.check)
			var adding sync.WaitGroup
			defer adding.Wait()
			adding.Go(func() { k.add(ctx) })
			return q.Run(ctx, 3, k.process)
		})
		s.Do(writePods) // so that checks are made now and then
	})
}

// late is how long after it is due a key may be begun: three workers have six keys, each
// of which takes three seconds at most.
const late = 10 * time.Second

const keyCount = 6

func numbered(n int) index.Key { return index.Key{Name: strconv.Itoa(n)} }

// keys are what is asked of a queue.
type keys struct {
	queue *queue.WorkQueue[index.Key]

	mu     sync.Mutex
	random *rand.Rand           // guarded by mu
	all    map[index.Key]*asked // guarded by mu
	wrong  error                // guarded by mu
}

// asked is what is asked of one key.
type asked struct {
	since    time.Time // it is to be processed; zero: it is not
	due      time.Time // it is to be processed then; zero: it has no delay
	busy     bool
	failures int // in a row
}

// add adds keys, at once and after a delay, until ctx ends.
func (k *keys) add(ctx context.Context) {
	for {
		k.mu.Lock()
		key, pause := numbered(k.random.IntN(keyCount)), time.Duration(k.random.Int64N(int64(30*time.Second)))
		var delay time.Duration
		if k.random.IntN(2) == 0 {
			delay = time.Duration(k.random.Int64N(int64(10 * time.Minute)))
		}
		k.ask(key, delay)
		k.mu.Unlock()
		if delay == 0 {
			k.queue.Add(key)
		} else {
			k.queue.AddAfter(key, delay)
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// ask notes that a key is to be processed. The caller holds mu.
func (k *keys) ask(key index.Key, delay time.Duration) {
	a, now := k.all[key], time.Now()
	k.look(key, now)
	at := now.Add(delay)
	switch {
	case delay == 0 && a.since.IsZero():
		a.since = now
	case delay > 0 && (a.due.IsZero() || at.Before(a.due)):
		a.due = at
	}
}

// look notes which keys have become due, and which are late. The caller holds mu.
func (k *keys) look(key index.Key, now time.Time) {
	a := k.all[key]
	if !a.due.IsZero() && !a.due.After(now) {
		if a.since.IsZero() {
			a.since = a.due
		}
		a.due = time.Time{}
	}
	if !a.since.IsZero() && now.Sub(a.since) > late && k.wrong == nil {
		k.wrong = fmt.Errorf("key %s has been due for %v", key, now.Sub(a.since))
	}
}

func (k *keys) process(_ context.Context, key index.Key) error {
	k.mu.Lock()
	a := k.all[key]
	k.look(key, time.Now())
	if a.busy && k.wrong == nil {
		k.wrong = fmt.Errorf("key %s is with two workers", key)
	}
	if n := k.queue.NumRequeues(key); n != a.failures && k.wrong == nil {
		k.wrong = fmt.Errorf("key %s has failed %d times in a row, and the queue says %d", key, a.failures, n)
	}
	a.since, a.busy = time.Time{}, true
	takes := time.Duration(k.random.Int64N(int64(3 * time.Second)))
	k.mu.Unlock()
	time.Sleep(takes)
	k.mu.Lock()
	defer k.mu.Unlock()
	a.busy = false
	if k.random.IntN(4) > 0 {
		a.failures = 0
		return nil
	}
	a.failures++
	k.ask(key, 5*time.Millisecond<<(a.failures-1))
	return errors.New("it fails")
}

func (k *keys) check(simulation.State) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.all {
		k.look(key, time.Now())
	}
	return k.wrong
}
