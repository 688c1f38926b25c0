package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRetireDuringEncoded: the bytes of an event that retires while a watch takes them are freed
// when that has them.
func TestRetireDuringEncoded(t *testing.T) {
	bytes := func() ([]byte, error) { return []byte("bytes"), nil }
	for name, take := range map[string]func(e *Event) ([]byte, error){
		"encodes": func(e *Event) ([]byte, error) {
			return e.Encoded(Variant{}, func() ([]byte, error) { e.retire(); return bytes() })
		},
		"finds": func(e *Event) ([]byte, error) {
			_, err := e.Encoded(Variant{}, bytes)
			require.NoError(t, err)
			e.mu.Lock() // as a watch does that is about to find the bytes
			e.retire()
			e.mu.Unlock()
			require.NotEmpty(t, e.encoded)
			return e.Encoded(Variant{}, bytes)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Event{}
			data, err := take(e)
			require.NoError(t, err)
			assert.Equal(t, "bytes", string(data))
			assert.Empty(t, e.encoded)
		})
	}
}
