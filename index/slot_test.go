package index

import (
	"fmt"
	"maps"
	"math/bits"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// named is an object that is nothing but its name.
type named string

func (n named) GetName() string    { return string(n) }
func (named) GetNamespace() string { return "ns" }

// TestSlotSize: a cache line, or two of them, hold a whole number of slots.
func TestSlotSize(t *testing.T) {
	if bits.UintSize == 64 {
		require.EqualValues(t, 32, unsafe.Sizeof(slot[*struct{ named }]{}))
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

// TestSlotsModel compares slots with a map, under hashes of which many are
// equal and most wrap around the end, with views that must stay as they are.
func TestSlotsModel(t *testing.T) { rapid.Check(t, checkSlots) }

func FuzzSlots(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkSlots)) }

func checkSlots(t *rapid.T) {
	type state struct {
		view  pages[slot[named]]
		model map[named]uint32
	}
	namespaces := makeVector[*posting[string]](0, 1)
	namespaces.set(0, 0, &posting[string]{key: "ns"})
	hashOf := map[named]uint32{}
	model := map[named]uint32{} // positions by name
	var table slots[named]
	var views []state
	gen, next := uint64(0), uint32(0)

	check := func(view pages[slot[named]], model map[named]uint32) {
		for name, hash := range hashOf {
			s := findSlot(&view, &namespaces.pages, hash, Key{Namespace: "ns", Name: string(name)})
			if pos, ok := model[name]; ok {
				require.NotNil(t, s)
				require.Equal(t, pos+1, s.place)
				require.Equal(t, name, s.object)
			} else {
				require.Nil(t, s)
			}
			require.Nil(t, findSlot(&view, &namespaces.pages, hash, Key{Name: string(name)}), "another namespace")
		}
		seen := 0
		for key := range keysOf(view, namespaces.pages) {
			require.Contains(t, model, named(key.Name))
			seen++
		}
		require.Len(t, model, seen)
	}
	draw := func(t *rapid.T) named {
		names := make([]named, 0, len(model))
		for i := range next {
			if name := named(fmt.Sprint(i)); hashOf[name] != 0 {
				if _, ok := model[name]; ok {
					names = append(names, name)
				}
			}
		}
		return rapid.SampledFrom(names).Draw(t, "name")
	}
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			for range rapid.IntRange(1, 5).Draw(t, "count") {
				name := named(fmt.Sprint(next))
				hashOf[name] = rapid.SampledFrom([]uint32{1, 7, 8, 15, 1 << 31, 1<<32 - 1, 1<<32 - 2}).Draw(t, "hash")
				table.insert(gen, newSlot(hashOf[name], next+1, string(name), 0, name))
				model[name] = next
				next++
			}
		},
		"remove": func(t *rapid.T) {
			if len(model) == 0 {
				return // nothing to remove
			}
			name := draw(t)
			table.remove(gen, hashOf[name], model[name])
			delete(model, name)
		},
		"move": func(t *rapid.T) {
			if len(model) == 0 {
				return // nothing to move
			}
			name := draw(t)
			table.change(gen, table.number(hashOf[name], model[name])).place = next + 1
			model[name] = next
			next++
		},
		"view": func(*rapid.T) {
			views = append(views, state{table.pages, maps.Clone(model)})
			views = views[max(0, len(views)-3):] // older ones take the test's time
			gen++
		},
		"": func(*rapid.T) {
			check(table.pages, model)
			for _, v := range views {
				check(v.view, v.model)
			}
			require.EqualValues(t, len(model), table.used)
			require.LessOrEqual(t, table.used*8, table.n*7, "a look-up needs an empty slot to end at")
		},
	})
}
