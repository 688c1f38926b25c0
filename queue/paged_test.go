package queue

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPagedKeepsWhatIsNeeded(t *testing.T) {
	var p paged[int]
	for i := range int32(10 * pageSize) {
		*p.reserve(i) = int(i)
	}
	p.release(3)
	p.release(9)
	p.release(99)
	assert.Len(t, p.pages, 9)
	assert.Equal(t, 4*pageSize, *p.at(4 * pageSize))
	assert.Zero(t, *p.reserve(3 * pageSize), "it is a new page")
	p.truncate(4*pageSize + 1)
	assert.Len(t, p.pages, 5)
	assert.Equal(t, 4*pageSize, *p.at(4 * pageSize))
	p.truncate(0)
	assert.Empty(t, p.pages)
	assert.Equal(t, 0, *p.reserve(2 * pageSize))
	assert.Nil(t, p.pages[0], "only the page that is asked for is made")
}
