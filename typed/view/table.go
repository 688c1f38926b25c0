package view

import (
	"strings"

	"github.com/kubetyped/informer/index"
)

// table has the objects of one stage of a running view, at dense rows, and what one step
// has changed. A row is that of one object from when it comes until it goes, and is not
// used for another one in the step in which it goes.
type table[T index.Object] struct {
	name    string                           // of the view
	detail  func(row uint32, e *Explanation) // tells what a row was made of; may be nil
	objects []T                              // by row; the zero T: there is none
	count   int
	changes []change[T] // of this step, at most one of a row
	gone    []uint32    // rows that nothing is at since this step
	free    []uint32    // rows that nothing is at
}

// change is what a step has done to a row.
type change[T index.Object] struct {
	row      uint32
	old, now T // the zero T: there was none, there is none
}

// newRow returns a row that nothing is at.
func (t *table[T]) newRow() uint32 {
	if n := len(t.free); n > 0 {
		row := t.free[n-1]
		t.free = t.free[:n-1]
		return row
	}
	var none T
	t.objects = append(t.objects, none)
	return uint32(len(t.objects) - 1)
}

// reach makes sure that there is a row, for tables that have the rows of another one.
func (t *table[T]) reach(row uint32) {
	var none T
	for int(row) >= len(t.objects) {
		t.objects = append(t.objects, none)
	}
}

// put changes a row, which has not changed in this step yet.
func (t *table[T]) put(row uint32, obj T) {
	old := t.objects[row]
	if old == obj {
		return
	}
	t.objects[row] = obj
	t.noteChange(row, old, obj)
}

func (t *table[T]) noteChange(row uint32, old, obj T) {
	var none T
	if old == none {
		t.count++
	}
	if obj == none {
		t.count--
	}
	t.changes = append(t.changes, change[T]{row, old, obj})
}

// settle ends a step.
func (t *table[T]) settle() {
	t.free = append(t.free, t.gone...)
	t.gone = kept(t.gone)
	if cap(t.changes) > maxKept {
		t.changes = nil
		return
	}
	clear(t.changes)
	t.changes = t.changes[:0]
}

// maxKept is the number of entries up to which the memory of a step is kept for the next.
const maxKept = 4096

// compare orders two rows by the keys of their objects.
func (t *table[T]) compare(a, b uint32) int { return compareKeys(t.objects[a], t.objects[b]) }

// compareKeys orders objects by namespace, then by name.
func compareKeys[T index.Object](a, b T) int {
	if order := strings.Compare(a.GetNamespace(), b.GetNamespace()); order != 0 {
		return order
	}
	return strings.Compare(a.GetName(), b.GetName())
}
