package typed

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stalled is expected, and never met.
type stalled struct{}

func (stalled) met() bool            { return false }
func (stalled) begin(func())         {}
func (stalled) end()                 {}
func (stalled) covers(expected) bool { return false }
func (stalled) String() string       { return "stalled" }

// met is expected, and met as soon as it has been looked at once. It covers
// everything.
type met struct {
	stalled
	looks int
}

func (m *met) met() bool {
	m.looks++
	return m.looks > 1
}

func (m *met) covers(expected) bool { return true }

// TestExpectOfAKeyThatWasPutOff: what is expected, by whatever goroutine, of a key
// that waits for something else, may be met before it is noted, and with it all
// that the key waits for.
func TestExpectOfAKeyThatWasPutOff(t *testing.T) {
	var added []string
	e, err := NewExpectations[string](AdderFunc[string](func(key string) { added = append(added, key) }))
	require.NoError(t, err)
	call := e.Wrap(func(context.Context, string) error { return nil })
	e.add("k", stalled{})
	require.NoError(t, call(t.Context(), "k"))
	require.Equal(t, ExpectationStats{Keys: 1, Waiting: 1, PutOff: 1}, e.Stats())

	e.add("k", &met{})
	assert.Equal(t, []string{"k"}, added, "it is not lost")
	assert.Equal(t, ExpectationStats{PutOff: 1}, e.Stats())

	added = nil
	e.add("l", &met{})
	assert.Empty(t, added, "a key that was not put off is not added")
}
