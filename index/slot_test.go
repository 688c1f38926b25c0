package index

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// named is an object that is nothing but its name.
type named string

func (n named) GetName() string    { return string(n) }
func (named) GetNamespace() string { return "ns" }

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
		if len(model) == 0 {
			t.Skip("nothing there")
		}
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
				table.insert(gen, slot[named]{hash: hashOf[name], place: next + 1, name: string(name), object: name})
				model[name] = next
				next++
			}
		},
		"remove": func(t *rapid.T) {
			name := draw(t)
			table.remove(gen, hashOf[name], model[name])
			delete(model, name)
		},
		"move": func(t *rapid.T) {
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
