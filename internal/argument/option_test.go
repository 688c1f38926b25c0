package argument_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/argument"
)

// TestApplyOptions: all options count, and all that is wrong is in the error.
func TestApplyOptions(t *testing.T) {
	type set func(*int) error
	n, negative := 0, errors.New("negative")
	err := argument.ApplyOptions(&n, []set{
		func(n *int) error { *n++; return nil }, nil,
		func(*int) error { return negative },
		func(n *int) error { *n += 10; return nil },
	})
	assert.EqualError(t, err, "option is nil\nnegative")
	assert.ErrorIs(t, err, negative)
	assert.Equal(t, 11, n)
}

func TestIsNil(t *testing.T) {
	for _, v := range []any{nil, (*int)(nil), map[string]int(nil), (func())(nil), []int(nil), (chan int)(nil)} {
		assert.True(t, argument.IsNil(v), "%T", v)
	}
	for _, v := range []any{0, "", struct{}{}, new(int), []int{}, [1]*int{}, func() {}} {
		assert.False(t, argument.IsNil(v), "%T", v)
	}
}
