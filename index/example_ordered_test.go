package index_test

import (
	"fmt"

	"github.com/kubetyped/informer/index"
)

// Pods by age, two a page.
func ExampleOrdered() {
	byVersion := index.NewOrdered("version", func(p *pod) (int, bool) { return p.version, true })
	store := index.NewIndexer[*pod]()
	if err := store.AddIndexes(byVersion); err != nil {
		fmt.Println(err)
		return
	}
	for i, name := range []string{"web", "db", "cache", "proxy"} {
		store.Apply(nil, put(&pod{namespace: "default", name: name, version: 40 - 10*i}), "1")
	}

	page := index.Between(10, 40)
	for range 2 {
		n := 0
		for version, p := range byVersion.Range(page) {
			fmt.Println(version, p.name)
			page = page.After(version, index.KeyOf(p))
			if n++; n == 2 {
				break
			}
		}
		fmt.Println("--")
	}
	// Output:
	// 10 proxy
	// 20 cache
	// --
	// 30 db
	// --
}

// Everything on a node that is neither of the application nor of the database.
func ExampleNot() {
	node, app := byNode(), index.Labels[*pod]("app")
	store := index.NewIndexer[*pod]()
	if err := store.AddIndexes(node, app); err != nil {
		fmt.Println(err)
		return
	}
	store.Apply(nil, put(
		&pod{name: "a", node: "n1", labels: map[string]string{"app": "web"}},
		&pod{name: "b", node: "n1"},
		&pod{name: "c", node: "n2", labels: map[string]string{"app": "db"}},
	), "1")

	others := index.Not(app.Is(index.Label{Key: "app", Value: "web"}, index.Label{Key: "app", Value: "db"}))
	for p := range index.Intersect(node.Is("n1"), others) {
		fmt.Println(p.name)
	}
	// Output: b
}

// Diff returns the changes between two snapshots.
func ExampleDiff() {
	store := index.NewIndexer[*pod]()
	store.Apply(nil, put(&pod{name: "a"}, &pod{name: "b"}), "1")
	before := store.Snapshot()
	store.Apply(nil, put(&pod{name: "b", version: 2}), "2")
	for e := range index.Diff(before, store.Snapshot()) {
		fmt.Println(e.Type, e.Key().Name, e.Old.version, "->", e.New.version)
	}
	// Output: Updated b 0 -> 2
}
