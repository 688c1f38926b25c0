package argument

import (
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestKinds(t *testing.T) {
	type pair struct {
		Name string
		Of   any
	}
	type name struct{ Namespace, Name string }
	for _, c := range []struct {
		t            reflect.Type
		check, refer bool
	}{
		{reflect.TypeFor[string](), false, false},
		{reflect.TypeFor[name](), false, false},
		{reflect.TypeFor[[3]int](), false, false},
		{reflect.TypeFor[float32](), true, false},
		{reflect.TypeFor[[2]complex128](), true, false},
		{reflect.TypeFor[struct{ f float64 }](), true, false},
		{reflect.TypeFor[any](), true, true},
		{reflect.TypeFor[[1]pair](), true, true},
		{reflect.TypeFor[*int](), false, true},
		{reflect.TypeFor[struct{ c chan int }](), false, true},
		{reflect.TypeFor[unsafe.Pointer](), false, true},
	} {
		assert.Equal(t, c.check, KeyNeedsCheck(c.t), c.t)
		assert.Equal(t, c.refer, KeyRefers(c.t), c.t)
	}
}

func TestCheckKey(t *testing.T) {
	assert.NoError(t, CheckKey("a"))
	assert.NoError(t, CheckKey[any](nil))
	assert.NoError(t, CheckKey[any](1.5))
	assert.NoError(t, CheckKey(struct{ of any }{[1]string{"a"}}))
	assert.ErrorIs(t, CheckKey[any]([]int{1}), errUnhashable)
	assert.ErrorIs(t, CheckKey(struct{ of any }{map[int]int{}}), errUnhashable)
	assert.ErrorIs(t, CheckKey[any](math.NaN()), errUnequal)
	assert.ErrorIs(t, CheckKey([2]float64{0, math.NaN()}), errUnequal)
}
