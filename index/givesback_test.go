package index_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/waves"
)

// TestIndexerGivesBack: a store without indexes, and with each kind of them.
func TestIndexerGivesBack(t *testing.T) {
	for name, indexes := range map[string]func() []index.Definition[*cell]{
		"objects":    func() []index.Definition[*cell] { return nil },
		"namespaces": func() []index.Definition[*cell] { return nil },
		"single": func() []index.Definition[*cell] {
			return []index.Definition[*cell]{index.Single("node", func(c *cell) (int, bool) { return c.node, true })}
		},
		"many": func() []index.Definition[*cell] {
			return []index.Definition[*cell]{index.New("tags", func(c *cell) []int { return c.tags })}
		},
		"labels": func() []index.Definition[*cell] { return []index.Definition[*cell]{index.Labels[*cell]("app")} },
		"ordered": func() []index.Definition[*cell] {
			return []index.Definition[*cell]{index.NewOrdered("weight", func(c *cell) (float64, bool) { return c.weight, true })}
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespaceOf := func(key int) string { return "ns" + strconv.Itoa(key%7) }
			if name == "namespaces" {
				namespaceOf = func(key int) string { return "ns" + strconv.Itoa(key/3) }
			}
			waves.GivesBack(t, func() waves.Structure {
				store := index.NewIndexer[*cell]()
				require.NoError(t, store.AddIndexes(indexes()...))
				var batch []index.Change[*cell]
				apply := func() {
					store.Apply(nil, batch, "")
					clear(batch)
					batch = batch[:0]
				}
				change := func(c index.Change[*cell]) {
					if batch = append(batch, c); len(batch) == 100 {
						apply()
					}
				}
				return waves.Structure{
					Come: func(key int) {
						change(index.Change[*cell]{Object: &cell{
							namespace: namespaceOf(key), name: strconv.Itoa(key),
							node: key / 3, tags: []int{key, key % 1000, key / 50}, app: strconv.Itoa(key / 10), weight: float64(key),
						}})
					},
					Go: func(key int) {
						change(index.Change[*cell]{Delete: true, Key: &index.Key{Namespace: namespaceOf(key), Name: strconv.Itoa(key)}})
					},
					Rest: apply,
				}
			})
		})
	}
}
