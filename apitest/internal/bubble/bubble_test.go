package bubble_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/apitest/internal/bubble"
)

func TestCurrent(t *testing.T) {
	assert.Zero(t, bubble.Current())
	var first, second bubble.ID
	synctest.Test(t, func(t *testing.T) {
		first = bubble.Current()
		assert.NotZero(t, first)
		inherited := make(chan bubble.ID)
		go func() { inherited <- bubble.Current() }()
		assert.Equal(t, first, <-inherited)
	})
	synctest.Test(t, func(*testing.T) { second = bubble.Current() })
	assert.NotZero(t, second)
	assert.NotEqual(t, first, second)
	assert.Zero(t, bubble.Current())
}

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		bubble.Current()
	}
}
