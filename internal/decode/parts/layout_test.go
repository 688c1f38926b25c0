package parts_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// TestIsZero: each byte of the part counts, and no other.
func TestIsZero(t *testing.T) {
	var words [4]uint64
	all := unsafe.Slice((*byte)(unsafe.Pointer(&words)), 32)
	for _, m := range []parts.Memory{{8, 16}, {8, 5}, {3, 1}, {5, 0}, {1, 30}} {
		for i := range all {
			clear(all)
			all[i] = 0x80
			within := uint32(i) >= m.Offset && uint32(i) < m.Offset+m.Length
			assert.Equal(t, !within, m.IsZero(unsafe.Pointer(&words)), "%v, byte %d", m, i)
		}
	}
}

// TestSliceIsOne: a Slice is what the runtime has.
func TestSliceIsOne(t *testing.T) {
	of := make([]int, 2, 5)
	s := (*parts.Slice)(unsafe.Pointer(&of))
	assert.Equal(t, parts.Slice{Data: unsafe.Pointer(&of[0]), Len: 2, Cap: 5}, *s)
}

func TestFieldSet(t *testing.T) {
	var s parts.FieldSet
	for n := range uint8(parts.MaxFields) {
		assert.False(t, s.Has(n))
		assert.False(t, s.Add(n))
		assert.True(t, s.Has(n))
		assert.True(t, s.Add(n))
		if n+1 < parts.MaxFields {
			assert.False(t, s.Has(n+1))
		}
	}
}
