package index

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// named is an object that is nothing but its name.
type named string

func (n named) GetName() string    { return string(n) }
func (named) GetNamespace() string { return "ns" }

// TestSlotSize: an entry takes no more memory than its fields.
func TestSlotSize(t *testing.T) {
	if bits.UintSize == 64 {
		require.EqualValues(t, 32, unsafe.Sizeof(entry[*struct{ named }, keyText]{}))
	}
}

// TestNamesAreCopied: the names that a store keeps do not hold on to what an object
// was decoded from, of which its name may be a part.
func TestNamesAreCopied(t *testing.T) {
	body := "a list with n1, n2, n3 and n4 in it"
	var objs []named
	for i := range 4 {
		at := strings.Index(body, fmt.Sprint("n", i+1))
		objs = append(objs, named(body[at:at+2]))
	}
	store := NewIndexer[named]()
	store.Replace(nil, objs[:1], "1", Initial)
	store.Apply(nil, []Change[named]{{Object: objs[1]}}, "2")
	store.Apply(nil, []Change[named]{{Object: objs[2]}, {Object: objs[3]}, {Object: "m"}}, "3")
	seen := 0
	for key := range store.Keys() {
		seen++
		for _, obj := range objs {
			require.NotSame(t, unsafe.StringData(string(obj)), unsafe.StringData(key.Name))
		}
	}
	require.Equal(t, 5, seen)
}

// TestKeysOfSlots finds keys and strings of keys among others that are nearly the
// same, all of them under the same hash.
func TestKeysOfSlots(t *testing.T) {
	keys := []Key{
		{Name: "a"}, {Namespace: "a", Name: "a"}, {Namespace: "aa"}, {Namespace: "a", Name: "ab"}, {Namespace: "aa", Name: "b"},
		{Name: "aab"}, {}, {Name: "a/b"}, {Namespace: "a", Name: "b"}, {Namespace: "a/b", Name: "c"}, {Namespace: "a", Name: "b/c"},
	}
	var e epoch
	var table hashTable[named, keyText]
	for i, key := range keys {
		table.insert(&e, entry[named, keyText]{hash: 5, place: uint32(i + 1), object: named(key.Name), text: newKeyText(key, textOf(key))})
	}
	view := slots[named]{tables: table.tables}
	var texts []string
	for i, key := range keys {
		texts = append(texts, key.String())
		found := findSlot(&view.tables, 5, key)
		require.NotNil(t, found, key)
		require.EqualValues(t, i+1, found.place)
		require.Nil(t, findSlot(&view.tables, 6, key), "another hash")
		require.Equal(t, key.String(), findString(&view.tables, 5, key.String()).text.string())
	}
	for _, key := range []Key{{Namespace: "b", Name: "a"}, {Namespace: "a"}, {Namespace: "a/b"}, {Name: "a/b/c"}} {
		require.Nil(t, findSlot(&view.tables, 5, key), key)
	}
	require.Equal(t, keys, sortedBy(keys, slices.Collect(view.keys())))
	require.ElementsMatch(t, texts, view.listStrings(uint32(len(keys))))
}

// sortedBy returns keys in the order that they have in another slice.
func sortedBy(order, keys []Key) []Key {
	return slices.SortedFunc(slices.Values(keys), func(a, b Key) int { return slices.Index(order, a) - slices.Index(order, b) })
}
