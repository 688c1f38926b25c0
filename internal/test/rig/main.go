package rig

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// ErrorHandler, if not nil, receives the errors that are reported to utilruntime.HandleError.
var ErrorHandler atomic.Pointer[utilruntime.ErrorHandler]

// Main is for the TestMain of a package. It changes global state before any test: goroutines of
// client-go that outlive their test may still look at it when the next test runs. Failures are
// reported on purpose by tests. The handlers of apimachinery would log them, and wait in between
// by a clock that bubbles do not share. The garbage collector runs less often, since most memory
// is allocated for one request.
func Main(m *testing.M) {
	debug.SetGCPercent(400)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(ctx context.Context, err error, msg string, keysAndValues ...any) {
		if handle := ErrorHandler.Load(); handle != nil {
			(*handle)(ctx, err, msg, keysAndValues...)
		}
	}}
	klog.SetLogger(klog.New(nil))
	goleak.VerifyTestMain(m)
}

// CatchErrors calls handle with the errors that are reported to utilruntime.HandleError until
// the test ends. The goroutine that reports calls handle, one at a time.
func CatchErrors(t *testing.T, handle func(error)) {
	var mu sync.Mutex
	catch := utilruntime.ErrorHandler(func(_ context.Context, err error, _ string, _ ...any) {
		mu.Lock()
		defer mu.Unlock()
		handle(err)
	})
	ErrorHandler.Store(&catch)
	t.Cleanup(func() { ErrorHandler.Store(nil) })
}
