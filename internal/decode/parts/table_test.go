package parts

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// text is what the tests keep.
type text struct{ text string }

func partOf(t *text) Part { return Part{unsafe.Pointer(t), 1} }

// TestKeepsRepeatedObjects: a value may be kept when its bytes come for the second time,
// and is found from then on, for its kind.
func TestKeepsRepeatedObjects(t *testing.T) {
	table, one := NewTable(), &text{"one"}
	found, ticket := table.Find(1, []byte("one"))
	assert.Zero(t, found)
	assert.Zero(t, ticket)
	table.Keep(ticket, partOf(one))
	assert.Zero(t, table.Usage().Parts)

	_, ticket = table.Find(1, []byte("one"))
	require.NotZero(t, ticket)
	table.Keep(ticket, Part{})
	assert.Zero(t, table.Usage().Parts, "a value that is nowhere")
	table.Keep(ticket, partOf(one))
	found, ticket = table.Find(1, []byte("one"))
	assert.Equal(t, partOf(one), found)
	assert.Equal(t, 1, table.Usage().Parts)

	other, _ := table.Find(2, []byte("one"))
	assert.Zero(t, other, "another kind")
	usage := table.Usage()
	assert.Equal(t, uint64(4), usage.Looked)
	assert.Equal(t, uint64(1), usage.Found)
	assert.Equal(t, 1, usage.Parts)
	assert.Greater(t, usage.Bytes, shardCount)

	instead := &text{"one"}
	table.Keep(ticket, partOf(instead))
	found, _ = table.Find(1, []byte("one"))
	assert.Equal(t, partOf(instead), found)
	assert.Equal(t, 1, table.Usage().Parts)
	runtime.KeepAlive(instead)
}

// TestKindsDoNotMix: a value of another kind is not returned, even where it has the same
// place.
func TestKindsDoNotMix(t *testing.T) {
	table, one := NewTable(), &text{"one"}
	for range 2 {
		_, ticket := table.Find(1, []byte("one"))
		ticket.kind = 2
		if ticket.hash != 0 {
			table.Keep(ticket, partOf(one))
		}
	}
	found, ticket := table.Find(1, []byte("one"))
	assert.Zero(t, found)
	assert.Zero(t, ticket)
	runtime.KeepAlive(one)
}

// TestKeepsNothingAlive: collected values are not found, and new ones reuse their slots.
func TestKeepsNothingAlive(t *testing.T) {
	table := NewTable()
	slots := func() (n int) {
		for i := range table.shards {
			n += len(table.shards[i].slots)
		}
		return n
	}
	for i := range 20_000 {
		for range 2 {
			_, ticket := table.Find(1, fmt.Append(nil, i))
			table.Keep(ticket, partOf(&text{fmt.Sprint(i)}))
		}
		if i%500 == 0 {
			runtime.GC()
		}
	}
	assert.LessOrEqual(t, slots(), shardCount*64)
	runtime.GC()
	for i := range 20_000 {
		found, _ := table.Find(1, fmt.Append(nil, i))
		assert.Zero(t, found.Data)
	}
}

// TestTableOfFewIsSmall: the memory of values seen grows with their number.
func TestTableOfFewIsSmall(t *testing.T) {
	remembered := func(values int) (n int) {
		table := NewTable()
		for i := range values {
			table.Find(1, fmt.Append(nil, i))
		}
		for i := range table.shards {
			n += len(table.shards[i].seen)
		}
		return n
	}
	assert.LessOrEqual(t, remembered(firstSightings), shardCount*firstSightings)
	assert.Greater(t, remembered(20_000), shardCount*firstSightings)
	assert.LessOrEqual(t, remembered(1_000_000), shardCount*lastSightings)
}
