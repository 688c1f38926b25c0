package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubetyped/informer/typed/source"
)

// diamonds looks for two ways from one informer to the leaves of a view that runs: sources
// between may open others.
type diamonds struct {
	leaves []leaf
	opened []opened
}

// opened is an Opened of a source between, and how many sources were added to it when it was
// looked at.
type opened struct {
	of    interface{ Added() uint64 }
	added uint64
}

// check returns an error if there are two ways now. It looks only if there may be new ones.
func (d *diamonds) check() (err error) {
	if slices.ContainsFunc(d.opened, func(o opened) bool { return o.of.Added() != o.added }) {
		d.opened, err = findDiamond(d.leaves)
	}
	return err
}

// findDiamond returns an error if two leaves are derived from the same informer or set, or one
// from the other: they need not be of one moment. Otherwise it returns what may open other
// ways.
func findDiamond(leaves []leaf) ([]opened, error) {
	if len(leaves) < 2 {
		return nil, nil
	}
	w := walk{found: map[source.Derived]way{}}
	for w.leaf = range leaves {
		w.seen = map[source.Derived]bool{}
		if err := w.follow(leaves[w.leaf].derived(), nil); err != nil {
			return nil, err
		}
	}
	return w.opened, nil
}

// walk follows ways from the leaves up.
type walk struct {
	leaf   int                     // that the way begins at, by its number
	seen   map[source.Derived]bool // from that
	found  map[source.Derived]way  // from all
	opened []opened
}

// way leads from a leaf to an informer or a set.
type way struct {
	leaf  int
	names []string // the leaf first
}

// follow extends a way from its end.
func (w *walk) follow(at source.Derived, names []string) error {
	if at == nil {
		return nil
	}
	named, hasName := at.(interface{ Name() string })
	if hasName && (len(names) == 0 || names[len(names)-1] != named.Name()) { // a use of an informer has its name
		names = append(slices.Clip(names), named.Name())
	}
	if reflect.ValueOf(at).Comparable() {
		if w.seen[at] {
			return nil
		}
		w.seen[at] = true
		if _, isView := at.(Input); hasName && !isView { // an informer or a set
			other, ok := w.found[at]
			if ok && other.leaf != w.leaf {
				return fmt.Errorf("made of %s in two ways, so that both need not be of one moment: %s, and %s; "+
					"give the view that an informer between is made of in the place of that, or have both ways lead through one informer", named.Name(), other, way{names: names})
			}
			w.found[at] = way{w.leaf, names}
		}
	}
	if of, ok := at.(interface{ Added() uint64 }); ok {
		w.opened = append(w.opened, opened{of, of.Added()}) // before it is looked at
	}
	for _, from := range at.DerivedFrom() {
		if err := w.follow(from, names); err != nil {
			return err
		}
	}
	return nil
}

// String returns the names on the way, the leaf last.
func (w way) String() string {
	names := slices.Clone(w.names)
	slices.Reverse(names)
	return strings.Join(names, " → ")
}
