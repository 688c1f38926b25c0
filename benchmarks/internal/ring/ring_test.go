package ring

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRingStartsAgain(t *testing.T) {
	r := Of([]string{"a", "b"})
	assert.Equal(t, []string{"a", "b", "a"}, []string{r.Next(), r.Next(), r.Next()})
}
