package view

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/kubetyped/informer/index"
)

// Lookup finds objects of a view by keys, for functions of [Compute]. One lookup may be
// used by many views.
type Lookup[K comparable, T index.Object] struct {
	*definition
	in   *View[T]
	keys Keys[K, T]
}

// By is a lookup by keys. Of the options, it takes a name and checks.
func By[K comparable, T index.Object](in *View[T], keys Keys[K, T], opts ...Option) *Lookup[K, T] {
	inputs := []*definition{in.defined()}
	o, _, err := gather[T](opts)
	if !keys.valid() {
		err = errors.Join(err, errors.New("key function is nil"))
	}
	if o.checks {
		keys = keys.checked()
	}
	return &Lookup[K, T]{definition: define(cmp.Or(o.name, describe("By", inputs...)), inputs, err), in: in, keys: keys}
}

// Fetch returns the objects of a key, in the order of their namespaces and names. The
// range is over the state at the time of the call, and is not to be used when the
// function has returned.
func (l *Lookup[K, T]) Fetch(f *Fetcher, key K) iter.Seq[T] {
	d := f.use(l.definition).(*keyed[K, T])
	return d.by.in.all(d.rows(key))
}

// One returns the object of a key, the first one if there are several, false if there is
// none.
func (l *Lookup[K, T]) One(f *Fetcher, key K) (T, bool) {
	for obj := range l.Fetch(f, key) {
		return obj, true
	}
	var none T
	return none, false
}

func (l *Lookup[K, T]) arrange(p *program) *arrangement[K, T] {
	return once(p, l.definition, func() *arrangement[K, T] {
		a := &arrangement[K, T]{name: l.name, in: l.in.start(p), keys: l.keys, byKey: map[K]uint32{}, program: p}
		p.add(a)
		return a
	})
}

func (l *Lookup[K, T]) depend(p *program) dependents {
	return &keyed[K, T]{by: l.arrange(p)}
}

// all ranges over the objects of rows.
func (t *table[T]) all(rows []uint32) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, row := range rows {
			if !yield(t.objects[row]) {
				return
			}
		}
	}
}

// keyed is the dependents of a Lookup.
type keyed[K comparable, T index.Object] struct {
	by       *arrangement[K, T]
	groupsOf []rowSet // by row of the stage: the groups that it depends on
	rowsOf   []rowSet // by group: the rows that depend on it
	noted    []uint32 // the groups that were fetched since the last commit, held
	seen     []uint32 // by group: the number of the call that has fetched it last
	current  uint32   // the number of the call
}

// rows returns the rows of a key, and notes that it was asked for.
func (d *keyed[K, T]) rows(key K) []uint32 {
	at := d.by.make(key)
	d.seen, d.rowsOf = grown(d.seen, int(at)+1), grown(d.rowsOf, int(at)+1)
	if d.seen[at] != d.current+1 {
		d.seen[at] = d.current + 1
		d.by.held[at]++
		d.noted = append(d.noted, at)
	}
	return d.by.groups[at].rows
}

func (d *keyed[K, T]) affected(mark func(row uint32, reason index.Reason)) {
	for _, at := range d.by.touched {
		if int(at) < len(d.rowsOf) {
			reason := d.by.why.of(at)
			d.rowsOf[at].each(func(row uint32) { mark(row, reason) })
		}
	}
}

func (d *keyed[K, T]) commit(row uint32) {
	d.groupsOf = grown(d.groupsOf, int(row)+1)
	if d.current > math.MaxUint32-4 {
		clear(d.seen)
		for _, at := range d.noted {
			d.seen[at] = 1
		}
		d.current = 0
	}
	fetched, again := d.current+1, d.current+2
	d.current += 2
	of := &d.groupsOf[row]
	of.each(func(at uint32) {
		if d.seen[at] == fetched {
			d.seen[at] = again
			return
		}
		of.remove(at)
		d.rowsOf[at].remove(row)
		d.by.letGo(at)
	})
	for _, at := range d.noted {
		if d.seen[at] == again { // it depended on it before
			d.by.letGo(at)
			continue
		}
		of.add(at)
		d.rowsOf[at].add(row)
	}
	d.noted = kept(d.noted)
}

func (d *keyed[K, T]) explain(row uint32, of *definition) (fetched []Fetched) {
	if int(row) >= len(d.groupsOf) {
		return nil
	}
	d.groupsOf[row].each(func(at uint32) {
		fetched = append(fetched, Fetched{From: of.name, Key: fmt.Sprint(d.by.keyOf[at]), Objects: d.by.in.keysOf(d.by.groups[at].rows)})
	})
	return fetched
}

// keysOf returns the keys of rows in words.
func (t *table[T]) keysOf(rows []uint32) []string {
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = index.KeyOf(t.objects[row]).String()
	}
	return keys
}
