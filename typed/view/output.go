package view

import (
	"fmt"

	"github.com/kubetyped/informer/index"
)

// output is the objects that a stage makes, at rows that the stage chooses. As a
// collection has one object of a key, of several with one key the first is in the table,
// in an order that does not depend on what came when.
type output[T index.Object] struct {
	table[T]
	program *program
	equal   func(a, b T) bool     // nil: what is made anew has changed
	before  func(a, b uint32) int // orders rows that have one key

	made  []T                  // by row, what the stage has made; nil: no two rows can have one key
	names map[index.Key]rowSet // the rows of each key
	set   []uint32             // rows that were set in this step
	moved []index.Key          // keys whose rows are others, or have changed, in this step
	twice map[index.Key]bool   // keys of several rows, which is told

	overlap bool // that several rows have one key is as it should be
}

// unique has the output look for rows that have one key from now on, what this step has
// made so far included.
func (o *output[T]) unique() {
	o.names, o.twice = map[index.Key]rowSet{}, map[index.Key]bool{}
	o.made = append([]T{}, o.objects...)
	var none T
	for row, obj := range o.made {
		if obj != none {
			o.claim(uint32(row), obj)
		}
	}
	for _, c := range o.changes { // resolve makes them again
		o.objects[c.row] = c.old
		if c.old == none {
			o.count--
		}
		if c.now == none {
			o.count++
		}
		o.set = append(o.set, c.row)
	}
	clear(o.changes)
	o.changes = o.changes[:0]
}

// make has the stage's object at a row be obj, the zero T if there is none.
func (o *output[T]) make(row uint32, obj T) {
	o.reach(row)
	if o.names == nil {
		if !o.same(o.objects[row], obj) {
			o.put(row, obj)
		}
		return
	}
	var none T
	for int(row) >= len(o.made) {
		o.made = append(o.made, none)
	}
	old := o.made[row]
	if o.same(old, obj) {
		return
	}
	o.made[row] = obj
	o.set = append(o.set, row)
	if old != none {
		o.giveUp(row, old)
	}
	if obj != none {
		o.claim(row, obj)
	}
}

// has returns what the stage has made for a row.
func (o *output[T]) has(row uint32) T {
	var none T
	switch {
	case o.names != nil && int(row) < len(o.made):
		return o.made[row]
	case o.names == nil && int(row) < len(o.objects):
		return o.objects[row]
	}
	return none
}

func (o *output[T]) claim(row uint32, obj T) {
	key := index.KeyOf(obj)
	rows := o.names[key]
	rows.add(row)
	o.names[key] = rows
	o.moved = append(o.moved, key)
}

func (o *output[T]) giveUp(row uint32, obj T) {
	key := index.KeyOf(obj)
	rows := o.names[key]
	rows.remove(row)
	if rows.len() == 0 {
		delete(o.names, key)
	} else {
		o.names[key] = rows
	}
	o.moved = append(o.moved, key)
}

// same reports whether there is nothing to tell.
func (o *output[T]) same(old, obj T) bool {
	var none T
	if old == obj {
		return true
	}
	return old != none && obj != none && o.equal != nil && sameKey(old, obj) && o.compareMade(old, obj)
}

// compareMade calls what compares objects. If that panics, they are taken for different ones.
func (o *output[T]) compareMade(old, obj T) (same bool) {
	var err error
	defer func() {
		if err != nil {
			o.program.failKey(o.name+", equal", index.KeyOf(obj), fmt.Errorf("view %s: comparing with the object before: %w", o.name, err))
			same = false
		} else if o.program.failing {
			o.program.repairKey(o.name+", equal", index.KeyOf(obj))
		}
	}()
	defer recoverTo(&err)
	return o.equal(old, obj)
}

// resolve ends the calls of make in a step: of the rows of each key, the first is shown.
func (o *output[T]) resolve() {
	var none T
	for _, row := range o.set {
		if o.made[row] == none {
			o.put(row, none)
		}
	}
	for _, key := range o.moved {
		rows := o.names[key]
		first, n := uint32(0), 0
		rows.each(func(row uint32) {
			if n == 0 || o.before(row, first) < 0 {
				first = row
			}
			n++
		})
		o.reach(first)
		rows.each(func(row uint32) {
			o.reach(row)
			if row == first {
				o.put(row, o.made[row])
			} else {
				o.put(row, none)
			}
		})
		if o.overlap {
			continue
		}
		if n > 1 && !o.twice[key] {
			o.twice[key] = true
			o.program.twice++
			o.program.failKey(o.name+", names", key, fmt.Errorf("%s: %d objects are made with this name, of which one is kept", o.name, n))
		} else if n <= 1 && o.twice[key] {
			delete(o.twice, key)
			o.program.twice--
			o.program.repairKey(o.name+", names", key)
		}
	}
	o.set, o.moved = kept(o.set), kept(o.moved)
}
