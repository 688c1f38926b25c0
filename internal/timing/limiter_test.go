package timing

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/test/waves"
)

// TestLimitersDoAsClientGos compares the delays after many failures of some keys.
func TestLimitersDoAsClientGos(t *testing.T) {
	exponential := workqueue.NewTypedItemExponentialFailureRateLimiter[int]
	for name, pair := range map[string]func() (own, theirs workqueue.TypedRateLimiter[int]){
		"default": func() (_, _ workqueue.TypedRateLimiter[int]) {
			return NewLimiter[int](), workqueue.DefaultTypedControllerRateLimiter[int]()
		},
		"exponential": func() (_, _ workqueue.TypedRateLimiter[int]) {
			return Exponential[int](time.Second, time.Hour), exponential(time.Second, time.Hour)
		},
		"without an end": func() (_, _ workqueue.TypedRateLimiter[int]) {
			return Exponential[int](3, 1<<63-1), exponential(3, 1<<63-1)
		},
		"of no delay": func() (_, _ workqueue.TypedRateLimiter[int]) {
			return Exponential[int](0, time.Hour), exponential(0, time.Hour)
		},
		"longer than the longest": func() (_, _ workqueue.TypedRateLimiter[int]) {
			return Exponential[int](time.Hour, time.Second), exponential(time.Hour, time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own, theirs := pair()
				r := rand.New(rand.NewPCG(1, 1))
				for range 5000 {
					key := r.IntN(20)
					switch r.IntN(100) {
					case 0:
						own.Forget(key)
						theirs.Forget(key)
					case 1:
						time.Sleep(time.Second)
					default:
						require.Equal(t, theirs.When(key), own.When(key))
					}
					require.Equal(t, theirs.NumRequeues(key), own.NumRequeues(key))
				}
			})
		})
	}
}

// TestLimiterGivesBack what it has kept for keys that failed and were forgotten.
func TestLimiterGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		l := NewLimiter[int]()
		return waves.Structure{
			Come: func(key int) { l.When(key) },
			Go:   l.Forget,
			End:  func() { l.Forget(-1) },
		}
	})
}
