package timing

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/container"
)

// NewLimiter returns a rate limiter that does as workqueue.DefaultTypedControllerRateLimiter's,
// and gives back the memory of keys that are forgotten.
func NewLimiter[K comparable]() workqueue.TypedRateLimiter[K] {
	return workqueue.NewTypedMaxOfRateLimiter(
		Exponential[K](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[K]{Limiter: rate.NewLimiter(10, 100)},
	)
}

// Exponential returns a rate limiter that does as
// workqueue.NewTypedItemExponentialFailureRateLimiter's: the delay of a key is base after its
// first failure, and then twice as long each time, up to most. It gives back the
// memory of keys that are forgotten, and is safe for concurrent use.
func Exponential[K comparable](base, most time.Duration) workqueue.TypedRateLimiter[K] {
	return &exponential[K]{base: base, longest: most, failures: map[K]int{}}
}

type exponential[K comparable] struct {
	base, longest time.Duration

	mu       sync.Mutex
	failures map[K]int // guarded by mu; since the last Forget
	most     int       // guarded by mu; that failures has held, for container.ShrinkMap
}

func (e *exponential[K]) When(key K) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.failures[key]
	e.failures[key] = n + 1
	e.most = max(e.most, len(e.failures))
	if d := float64(e.base) * math.Pow(2, float64(n)); d < float64(e.longest) {
		return time.Duration(d)
	}
	return e.longest
}

func (e *exponential[K]) NumRequeues(key K) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failures[key]
}

func (e *exponential[K]) Forget(key K) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, failed := e.failures[key]; failed {
		delete(e.failures, key)
		e.failures = container.ShrinkMap(e.failures, &e.most)
	}
}
