package queue_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// TestAStepIsOneDelta, whatever the number of its changes.
func TestAStepIsOneDelta(t *testing.T) {
	q := queue.NewDeltaFIFO[int]()
	q.Put(1, "1")
	called := false
	changes := []queue.Delta[int]{{Type: queue.Put, Object: 2}, {Type: queue.Delete, Object: 1}}
	q.Add(queue.Delta[int]{Type: queue.Step, List: &queue.List[int]{Changes: changes, Done: func() { called = true }}, ResourceVersion: "3"})
	assert.Equal(t, 2, q.Len())
	deltas, err := q.Take(t.Context())
	require.NoError(t, err)
	require.Len(t, deltas, 2)
	assert.Equal(t, queue.Step, deltas[1].Type)
	assert.Equal(t, "Step", deltas[1].Type.String())
	assert.Equal(t, "3", deltas[1].ResourceVersion)
	assert.Equal(t, changes, deltas[1].List.Changes)
	assert.False(t, called)
	deltas[1].List.Done()
	assert.True(t, called)
}
