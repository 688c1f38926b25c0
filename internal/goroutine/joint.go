package goroutine

import (
	"context"
	"sync"
)

// Joint runs a function once for all callers that need it at the same time. The zero value is
// ready.
type Joint struct {
	mu    sync.Mutex
	users int        // guarded by mu
	call  *jointCall // guarded by mu; of the users
}

// jointCall is one call of a function.
type jointCall struct {
	stop  func()        // ends its context
	ended chan struct{} // closed when it has returned
	err   error         // what it has returned; set before ended is closed
}

// Run calls run in a goroutine, unless a call is running for other callers: then it joins
// that. The context that run gets has the values of the first caller's, and ends when the
// contexts of all callers have ended. Run returns nil when ctx has ended and others still need the
// call; otherwise it waits for run, and returns its result. A panic of run is treated as Contain
// does, which of names whose function it is.
func (j *Joint) Run(ctx context.Context, of string, run func(ctx context.Context) error) error {
	call := j.join(ctx, of, run)
	select {
	case <-ctx.Done():
	case <-call.ended:
	}
	if j.leave() {
		call.stop()
		<-call.ended
	}
	select {
	case <-call.ended:
		return call.err
	default:
		return nil
	}
}

// Users returns how many there are.
func (j *Joint) Users() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.users
}

// join adds a user, and returns the call.
func (j *Joint) join(ctx context.Context, of string, run func(ctx context.Context) error) *jointCall {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.users++
	if j.users > 1 {
		return j.call
	}
	calling, stop := context.WithCancel(context.WithoutCancel(ctx))
	call := &jointCall{stop: stop, ended: make(chan struct{})}
	j.call = call
	go func() {
		defer close(call.ended)
		call.err = Contain(calling, of, func() error { return run(calling) })
	}()
	return call
}

// leave takes a user out, and reports whether that was the last.
func (j *Joint) leave() (last bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.users--
	if j.users == 0 {
		j.call = nil
	}
	return j.users == 0
}
