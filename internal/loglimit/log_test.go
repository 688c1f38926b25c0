package loglimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLog(t *testing.T) {
	var l Log
	logged, leftOut := []int{}, 0
	for second := range 200 { // a line every second
		left, ok := l.Next(time.Duration(second) * time.Second)
		if ok {
			logged = append(logged, second)
			leftOut += left
		}
	}
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 60, 61, 62, 63, 64, 65, 120, 121, 122, 123, 124, 125, 180, 181, 182, 183, 184, 185}, logged)
	assert.Equal(t, 3*54, leftOut, "each is counted once")
}
