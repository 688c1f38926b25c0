package index

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScratch: a store keeps the memory that a batch of changes needs, as others follow, and frees
// that of a list, as lists are rare.
func TestScratch(t *testing.T) {
	byLength := Single("length", func(n named) (int, bool) { return len(n), true })
	store := NewIndexer[named]()
	require.NoError(t, store.AddIndexes(byLength))
	room := func() []int {
		return []int{cap(store.batch.located), cap(store.batch.texts), cap(byLength.staged), cap(byLength.ends)}
	}
	objects := func(n int) (list []named, changes []Change[named]) {
		for i := range n {
			list = append(list, named(fmt.Sprint("n", i)))
			changes = append(changes, Change[named]{Object: list[i]})
		}
		return list, changes
	}
	few, fewChanges := objects(maxInPlace)
	store.Replace(nil, few, "1", Initial)
	assert.Equal(t, []int{0, 0, 0, 0}, room(), "after the first list")
	store.Replace(nil, few[:200], "1", Relisted)
	store.Replace(nil, few[200:], "1", Relisted)
	assert.Equal(t, []int{0, 0, 0, 0}, room(), "after a list")
	store.Replace(nil, nil, "", Relisted)
	store.Apply(nil, fewChanges, "2")
	for _, n := range room() {
		assert.GreaterOrEqual(t, n, len(few), "after changes")
	}
	_, manyChanges := objects(maxScratch + 1)
	store.Apply(nil, manyChanges, "3")
	for _, n := range room() {
		assert.LessOrEqual(t, n, maxScratch, "after more changes than usual")
	}
}
