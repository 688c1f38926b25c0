package goroutine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// TestJoint: users come and go while a function runs.
func TestJoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j Joint
		type valueKey struct{}
		calls, running := 0, 0
		run := func(ctx context.Context) error {
			calls++
			running++
			assert.Equal(t, "first", ctx.Value(valueKey{}))
			<-ctx.Done()
			running--
			return nil
		}
		results := make(chan error, 3)
		use := func(who string) context.CancelFunc {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), valueKey{}, who))
			go func() { results <- j.Run(ctx, "it", run) }()
			synctest.Wait()
			return cancel
		}
		first := use("first")
		second := use("second")
		first()
		assert.NoError(t, <-results)
		assert.Equal(t, 1, running, "the second needs it")
		third := use("third")
		second()
		assert.NoError(t, <-results)
		assert.Equal(t, 1, running)
		third()
		assert.NoError(t, <-results)
		assert.Equal(t, 0, running, "it has ended before the last who needs it returns")
		assert.Equal(t, 1, calls)
		use("first")()
		assert.NoError(t, <-results)
		assert.Equal(t, 2, calls, "anew")
	})
}

// TestJointEnds: when the function ends by itself, all users receive its result.
func TestJointEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j Joint
		end, broken := make(chan struct{}), errors.New("broken")
		results := make(chan error, 2)
		for range 2 {
			go func() {
				results <- j.Run(t.Context(), "it", func(context.Context) error { <-end; return broken })
			}()
		}
		synctest.Wait()
		close(end)
		assert.Equal(t, broken, <-results)
		assert.Equal(t, broken, <-results)
	})
}

// TestJointReturnsTheResultToTheLast, even if its context has ended before: run may have
// failed for another reason.
func TestJointReturnsTheResultToTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j Joint
		ctx, cancel := context.WithCancel(t.Context())
		results, broken := make(chan error, 1), errors.New("broken")
		go func() {
			results <- j.Run(ctx, "it", func(ctx context.Context) error { <-ctx.Done(); return broken })
		}()
		synctest.Wait()
		cancel()
		assert.Equal(t, broken, <-results)
	})
}
