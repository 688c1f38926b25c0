package goroutine

import (
	"context"
	"fmt"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// PanicError is what a function has panicked with, as an error.
type PanicError struct {
	// Of says whose function it was.
	Of string
	// Value is what it has panicked with.
	Value any
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("%s has panicked: %v", e.Of, e.Value) }

// Unwrap returns what it has panicked with, if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Contain returns what call returns. If it panics, utilruntime.HandleCrash reports that,
// and, where programs are not to crash, Contain returns a *PanicError.
func Contain(ctx context.Context, of string, call func() error) (err error) {
	defer utilruntime.HandleCrashWithContext(ctx, func(_ context.Context, p any) { err = &PanicError{of, p} })
	return call()
}

// Call calls a function that returns nothing, with the same care.
func Call(ctx context.Context, call func()) {
	defer utilruntime.HandleCrashWithContext(ctx)
	call()
}

// CallSafely calls a function of the user's. utilruntime.HandleCrash reports its panic.
func CallSafely(call func()) {
	defer utilruntime.HandleCrash()
	call()
}

// Report reports a panic that was recovered as HandleCrash does, and returns: where it is
// promised that a panic is an error of one object, key or cluster, and never more. It is
// called by the deferred function that has recovered, so that the stack is the user's.
func Report(ctx context.Context, panicked any) {
	for _, handle := range utilruntime.PanicHandlers {
		handle(ctx, panicked)
	}
}

// Crash does what HandleCrash does, with a panic that a deferred function has recovered: for
// functions that are called for each object, as it costs less to defer.
func Crash(ctx context.Context, panicked any) {
	Report(ctx, panicked)
	if utilruntime.ReallyCrash {
		panic(panicked)
	}
}

// Try returns what call returns, and a panic of it as an error, whatever crashing is: it is
// reported as by Report.
func Try(ctx context.Context, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			Report(ctx, p)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}

// Insist calls what may panic until it does not, unless that ends the process, with a Pause
// in between.
func Insist(call func()) {
	defer utilruntime.HandleCrash(func(p any) {
		Pause(p)
		if !utilruntime.ReallyCrash {
			Insist(call)
		}
	})
	call()
}

// Pause makes a goroutine that has panicked wait, unless the process ends. It is for
// HandleCrash.
func Pause(any) {
	if !utilruntime.ReallyCrash {
		time.Sleep(500 * time.Millisecond)
	}
}
