package parts_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/decode/parts"
)

type word struct{ text string }

func (w *word) String() string { return w.text }

type other struct{ *word }

// TestPointers: objects are found by the values that they point to, and the other way round, by the
// type itself and by an interface.
func TestPointers(t *testing.T) {
	w := &word{"a"}
	direct, err := parts.PointersTo[*word](reflect.TypeFor[*word]())
	require.NoError(t, err)
	assert.Equal(t, unsafe.Pointer(w), direct.To(w))
	assert.Same(t, w, direct.At(unsafe.Pointer(w)))
	assert.Nil(t, direct.At(nil))
	assert.Equal(t, &word{}, direct.New())

	dynamic, err := parts.PointersTo[fmt.Stringer](reflect.TypeFor[*word]())
	require.NoError(t, err)
	assert.Equal(t, unsafe.Pointer(w), dynamic.To(w))
	assert.Same(t, w, dynamic.At(unsafe.Pointer(w)))
	assert.Nil(t, dynamic.At(nil))
	assert.Nil(t, dynamic.To(nil))
	assert.Nil(t, dynamic.To(&other{w}), "it is of another type")
	assert.Equal(t, &word{}, dynamic.New())
	assert.Equal(t, reflect.TypeFor[*word](), dynamic.Of())
}

// TestPointersToOtherTypes: a type that is no pointer to a struct, or no T, is refused.
func TestPointersToOtherTypes(t *testing.T) {
	_, err := parts.PointersTo[fmt.Stringer](reflect.TypeFor[word]())
	require.ErrorContains(t, err, "not a pointer to a struct")
	_, err = parts.PointersTo[fmt.Stringer](nil)
	require.ErrorContains(t, err, "not a pointer to a struct")
	_, err = parts.PointersTo[fmt.Stringer](reflect.TypeFor[*struct{}]())
	require.ErrorContains(t, err, "is not a fmt.Stringer")
	_, err = parts.PointersTo[*word](reflect.TypeFor[*other]())
	require.ErrorContains(t, err, "is not a *parts_test.word")
}
