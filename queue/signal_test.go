package queue

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestNoSignalIsLeftBehind ends a Take at the moment in which a producer wakes
// it. A signal that stayed in the channel would make a later producer wait for
// room in it, and so for the consumer.
func TestNoSignalIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewDeltaFIFO[int]()
		for i := range 500 {
			ctx, cancel := context.WithCancel(t.Context())
			returned := make(chan struct{})
			go func() {
				defer close(returned)
				_, _ = q.Take(ctx)
			}()
			synctest.Wait()
			if i%4 == 3 {
				q.Put(i, "")
				cancel()
			} else {
				cancel()
				q.Put(i, "")
			}
			<-returned
			require.Empty(t, q.ready)
			require.False(t, q.waiting)
			if q.Len() > 0 {
				_, err := q.Take(t.Context())
				require.NoError(t, err)
			}
		}
	})
}
