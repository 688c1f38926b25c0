package view

import (
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
)

// output contains the objects that a stage makes, at rows that the stage chooses. A collection
// has one object of a key, so of several with one key the first is in the table, in an order
// that does not depend on when they came.
type output[T index.Object] struct {
	table[T]
	program *program
	equal   func(a, b T) bool     // nil: an object that is made again counts as changed
	before  func(a, b uint32) int // orders rows that have one key

	made  []T                  // by row, what the stage has made; nil: no two rows can have one key
	names map[index.Key]rowSet // the rows of each key
	set   []uint32             // rows that were set in this step
	moved []index.Key          // keys whose rows are others, or have changed, in this step
	twice faults[index.Key]    // keys of several rows
	// differ contains the objects for which equal panics, by row.
	differ  faults[uint32]
	because index.Reason      // why the next object is made again
	whyKey  causes[index.Key] // of moved
	whyRow  causes[uint32]    // of set

	overlap bool // that several rows have one key is as it should be
}

// unique makes the output look for rows that have one key from now on, including the objects
// that this step has made so far.
func (o *output[T]) unique() {
	o.names = map[index.Key]rowSet{}
	o.made = slices.Clone(o.objects)
	for row, obj := range o.made {
		if !isNone(obj) {
			o.claim(uint32(row), obj)
		}
	}
	for _, c := range o.changes { // resolve makes them again
		o.objects[c.row] = c.old
		if isNone(c.old) {
			o.count--
		}
		if isNone(c.now) {
			o.count++
		}
		o.set = append(o.set, c.row)
		o.whyRow.note(c.row, c.reason)
		for _, obj := range []T{c.old, c.now} {
			if !isNone(obj) {
				o.noteMoved(index.KeyOf(obj), c.reason)
			}
		}
	}
	clear(o.changes)
	o.changes = o.changes[:0]
}

// make sets the stage's object at a row, the zero T if there is none.
func (o *output[T]) make(row uint32, obj T) {
	o.reach(row)
	if o.names == nil {
		if !o.same(row, o.objects[row], obj) {
			o.put(row, obj, o.because)
		}
		return
	}
	o.made = grown(o.made, int(row)+1)
	old := o.made[row]
	if o.same(row, old, obj) {
		return
	}
	o.made[row] = obj
	o.set = append(o.set, row)
	o.whyRow.note(row, o.because)
	if !isNone(old) {
		o.giveUp(row, old)
	}
	if !isNone(obj) {
		o.claim(row, obj)
	}
}

// has returns what the stage has made for a row.
func (o *output[T]) has(row uint32) T {
	of := o.objects
	if o.names != nil {
		of = o.made
	}
	if int(row) < len(of) {
		return of[row]
	}
	var none T
	return none
}

func (o *output[T]) claim(row uint32, obj T) {
	key := index.KeyOf(obj)
	rows := o.names[key]
	rows.add(row)
	o.names[key] = rows
	o.noteMoved(key, o.because)
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
	o.noteMoved(key, o.because)
}

// noteMoved notes that the rows of a key are to be looked at in this step.
func (o *output[T]) noteMoved(key index.Key, reason index.Reason) {
	o.moved = append(o.moved, key)
	o.whyKey.note(key, reason)
}

// reorder notes that the rows of the key of a row are to be looked at: the place of the row
// among them may have changed, though its object is the same.
func (o *output[T]) reorder(row uint32) {
	if obj := o.has(row); o.names != nil && !isNone(obj) {
		o.noteMoved(index.KeyOf(obj), o.because)
	}
}

// same reports whether the object of a row has not changed. If comparing the objects panics,
// they count as different.
func (o *output[T]) same(row uint32, old, obj T) bool {
	same, err := o.compare(old, obj)
	if err != nil {
		o.differ.fail(o.program, row, fault{key: index.KeyOf(obj), err: fmt.Errorf("view %s: comparing with the object before: %w", o.name, err)})
	} else {
		o.differ.repair(o.program, row)
	}
	return same
}

// isSame reports whether two objects are the same to who reads them.
func (o *output[T]) isSame(a, b T) bool {
	same, err := o.compare(a, b)
	return same && err == nil
}

// compare calls what compares objects.
func (o *output[T]) compare(a, b T) (same bool, err error) {
	switch {
	case index.Same(a, b):
		return true, nil
	case isNone(a) || isNone(b) || o.equal == nil || !sameKey(a, b):
		return false, nil
	}
	defer recoverTo(&err)
	return o.equal(a, b), nil
}

// resolve ends the calls of make in a step: of the rows of each key, the first is shown.
func (o *output[T]) resolve() {
	var none T
	for _, row := range o.set {
		if isNone(o.made[row]) {
			o.put(row, none, o.whyRow.of(row))
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
			reason := max(o.whyKey.of(key), o.whyRow.of(row))
			if row == first {
				o.put(row, o.made[row], reason)
			} else {
				o.put(row, none, reason)
			}
		})
		if o.overlap {
			continue
		}
		if n > 1 && !o.twice.has(key) {
			o.twice.fail(o.program, key, fault{key: key, names: true, err: fmt.Errorf("%s: %d objects are made with this name, of which one is kept", o.name, n)})
		} else if n <= 1 {
			o.twice.repair(o.program, key)
		}
	}
	o.set, o.moved = kept(o.set), kept(o.moved)
	o.whyKey.forget()
	o.whyRow.forget()
}
