package queue_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// TestDifferencesFromClientGo are those that the comment of WorkQueue names. They
// are tried on both: when client-go's queue changes, the comment has to.
func TestDifferencesFromClientGo(t *testing.T) {
	for name, test := range map[string]struct {
		try            func(t *testing.T, q sharedQueue) any
		clientGo, here any
	}{
		"a drain has ended though a key waits": {func(_ *testing.T, q sharedQueue) any {
			add(q, "a")
			return drain(q)()
		}, true, false},
		"drains that have ended": {func(t *testing.T, q sharedQueue) any {
			add(q, "a")
			require.Equal(t, "a", get(t, q))
			drains := []func() bool{drain(q), drain(q), drain(q)}
			q.Done("a")
			ended := 0
			for _, hasEnded := range drains {
				if hasEnded() {
					ended++
				}
			}
			return ended
		}, 1, 3},
		"keys that wait after Done of one that waits": {func(t *testing.T, q sharedQueue) any {
			reported(t)
			add(q, "a")
			q.Done("a")
			return q.Len()
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, q sharedQueue) {
				want := test.clientGo
				if _, here := q.(*queue.WorkQueue[string]); here {
					want = test.here
				}
				assert.Equal(t, want, test.try(t, q))
			})
		})
	}
}
