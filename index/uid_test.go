package index_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// identified is an object with a UID.
type identified struct {
	name, uid string
	version   int
}

func (o identified) GetName() string      { return o.name }
func (o identified) GetNamespace() string { return "" }
func (o identified) GetUID() types.UID    { return types.UID(o.uid) }

// TestChangeOfAUIDCountsForThatObjectOnly makes changes one at a time, in small batches, in
// large ones and in those that are made to a fork.
func TestChangeOfAUIDCountsForThatObjectOnly(t *testing.T) {
	first, second := types.UID("1"), types.UID("2")
	key := index.Key{Name: "a"}
	put := func(uid string, version int, of *types.UID) index.Change[identified] {
		return index.Change[identified]{Reason: index.Watched, Object: identified{"a", uid, version}, UID: of}
	}
	gone := func(of *types.UID) index.Change[identified] {
		return index.Change[identified]{Delete: true, Reason: index.Watched, Key: &key, UID: of}
	}
	for name, c := range map[string]struct {
		before  []index.Change[identified]
		changes []index.Change[identified]
		want    []string
	}{
		"a deletion of what is there":        {[]index.Change[identified]{put("1", 1, nil)}, []index.Change[identified]{gone(&first)}, []string{"Deleted 1@1"}},
		"a deletion of what was there":       {[]index.Change[identified]{put("2", 1, nil)}, []index.Change[identified]{gone(&first)}, nil},
		"a deletion of nothing":              {nil, []index.Change[identified]{gone(&first)}, nil},
		"an update of what is there":         {[]index.Change[identified]{put("1", 1, nil)}, []index.Change[identified]{put("1", 2, &first)}, []string{"Updated 1@2"}},
		"an update of what was there":        {[]index.Change[identified]{put("2", 1, nil)}, []index.Change[identified]{put("1", 2, &first)}, nil},
		"an update of nothing":               {nil, []index.Change[identified]{put("1", 2, &first)}, nil},
		"what the change before has put":     {nil, []index.Change[identified]{put("1", 1, nil), gone(&first)}, []string{"Added 1@1", "Deleted 1@1"}},
		"what the change before has removed": {[]index.Change[identified]{put("1", 1, nil)}, []index.Change[identified]{gone(nil), gone(&first)}, []string{"Deleted 1@1"}},
		"after one that does not count": {
			[]index.Change[identified]{put("1", 1, nil)}, []index.Change[identified]{gone(&second), gone(&first)}, []string{"Deleted 1@1"},
		},
		"of two objects of the name": {
			[]index.Change[identified]{put("1", 1, nil)},
			[]index.Change[identified]{put("2", 2, nil), gone(&first), put("2", 3, &second)},
			[]string{"Updated 2@2", "Updated 2@3"},
		},
	} {
		for _, others := range []int{0, 3, 300, 2000} {
			for _, literal := range []bool{false, true} {
				t.Run(fmt.Sprint(name, others, literal), func(t *testing.T) {
					var opts []index.Option[identified]
					if literal {
						opts = append(opts, index.WithLiteralEvents[identified]())
					}
					store := index.NewIndexer(opts...)
					store.Apply(nil, c.before, "1")
					batch := append([]index.Change[identified]{}, c.changes...)
					for i := range others {
						batch = append(batch, index.Change[identified]{Object: identified{name: fmt.Sprint("other", i)}})
					}
					given := append([]index.Change[identified]{}, batch...)
					var told []string
					for _, e := range store.Apply(nil, batch, "2") {
						if e.New.name == "a" {
							told = append(told, fmt.Sprintf("%v %s@%d", e.Type, e.New.uid, e.New.version))
						}
					}
					assert.Equal(t, c.want, told)
					assert.Equal(t, "2", store.ResourceVersion(), "the version moves in any case")
					assert.Equal(t, given, batch, "the batch is the caller's")
					left := 0
					if e, ok := store.Get(key); ok {
						left = 1
						require.NotEmpty(t, e.uid)
					}
					assert.Equal(t, others+left, store.Len())
				})
			}
		}
	}
}

func TestAnObjectWithoutUIDIsNoneOfAUID(t *testing.T) {
	store := newStore(t, nil, &pod{name: "a", uid: "1"})
	uid := types.UID("")
	assert.Empty(t, store.Apply(nil, []index.Change[*pod]{{Delete: true, Object: &pod{name: "a"}, UID: &uid}}, "2"))
	assert.Equal(t, 1, store.Len())
}
