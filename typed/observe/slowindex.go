package observe

import (
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
)

// WithSlowIndexes logs a line for an index function that takes longer than limit for one
// object, with the index and the object's key. A write of the store is timed as a whole,
// which costs next to nothing; one that takes longer than limit has its index functions
// called once more, each by itself, for up to 256 of its objects. There are up to 6 such
// lines a minute for an informer, which say how many were left out before.
func WithSlowIndexes(limit time.Duration) typed.Option {
	return typed.WithObserver(slowIndexes(limit))
}

// slowIndexes is the time that index functions may take.
type slowIndexes time.Duration

// maxBlamed is how many objects of a slow write have their index functions timed.
const maxBlamed = 256

func (s slowIndexes) Observe(o observer.Observed) (observer.Hooks, error) {
	limit, began, lines := time.Duration(s), time.Now(), &loglimit.Log{}
	if limit <= 0 {
		return observer.Hooks{}, fmt.Errorf("WithSlowIndexes: the limit %v is not positive", limit)
	}
	return observer.Hooks{Stored: func(w *observer.Write) {
		if w.Took <= limit {
			return
		}
		blamed := 0
		for key, obj := range w.Objects {
			if blamed++; blamed > maxBlamed {
				return
			}
			name, took := w.Slowest(obj)
			if took <= limit {
				continue
			}
			if left, ok := lines.Next(time.Since(began)); ok {
				klog.FromContext(o.Context()).Info("An index function was slow", "index", name, "object", key, "took", took, "limit", limit, "leftOut", left)
			}
		}
	}}, nil
}

func (s slowIndexes) Option() string                    { return "WithSlowIndexes" }
func (s slowIndexes) Alone() bool                       { return false }
func (s slowIndexes) Same(other observer.Observer) bool { return s == other }
func (s slowIndexes) After(earlier observer.Observer) observer.Observer {
	return observer.Latest(s, earlier)
}
