package adapters_test

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reported is what was reported to utilruntime.HandleError.
var reported reports

// TestMain changes global state once, before any test: goroutines of client-go that outlive their test
// may still look at it when the next test runs. Failures are reported on purpose here. The handlers
// of apimachinery would log them, and wait in between by a clock that bubbles do not share.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{reported.add}
	klog.SetLogger(klog.New(nil))
	cache.SetInformerMetricsProvider(&processMetrics)
	goleak.VerifyTestMain(m)
}

// reports are errors.
type reports struct {
	mu   sync.Mutex
	errs []error // guarded by mu
}

func (r *reports) add(_ context.Context, err error, msg string, _ ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = errors.New(msg)
	}
	r.errs = append(r.errs, err)
}

// since returns a function that returns what has been reported since then.
func (r *reports) since() func() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := len(r.errs)
	return func() []error {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Clone(r.errs[from:])
	}
}
