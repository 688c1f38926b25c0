package apitest

import (
	"context"
	"reflect"
	"runtime"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// client-go reports errors to utilruntime.HandleError. For the whole process, one of its
// handlers remembers when it was called last, and makes callers sleep so that they do not come
// too often. The clocks of bubbles start again: an hour ago by one clock may be an hour ahead
// by another, and a bubble would sleep through it. So that handler is skipped in bubbles. A
// program that sets utilruntime.ErrorHandlers decides for itself.
func init() {
	for i, handle := range utilruntime.ErrorHandlers {
		if !slowsDown(handle) {
			continue
		}
		utilruntime.ErrorHandlers[i] = func(ctx context.Context, err error, msg string, keysAndValues ...any) {
			if here().id == 0 {
				handle(ctx, err, msg, keysAndValues...)
			}
		}
	}
}

// slowsDown reports whether a handler is the one of apimachinery that sleeps.
func slowsDown(handle utilruntime.ErrorHandler) bool {
	f := runtime.FuncForPC(reflect.ValueOf(handle).Pointer())
	return f != nil && strings.Contains(f.Name(), "apimachinery/pkg/util/runtime.backoffError")
}
