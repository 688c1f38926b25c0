package view

import (
	"strings"

	"github.com/kubetyped/informer/index"
)

// table contains the objects of one stage of a running view, at dense rows, and the changes of
// one step. A row belongs to one object from when it comes until it goes, and is not used for
// another one in the step in which it goes.
type table[T index.Object] struct {
	name    string                           // of the view
	detail  func(row uint32, e *Explanation) // adds what a row was made of; may be nil
	objects []T                              // by row; the zero T: there is none
	count   int
	changes []change[T] // of this step, at most one of a row
	gone    []uint32    // rows that nothing is at since this step
	free    []uint32    // rows that nothing is at
}

// change is what a step has done to a row.
type change[T index.Object] struct {
	row      uint32
	old, now T            // the zero T: there was none, there is none
	reason   index.Reason // 0: the usual one
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
func (t *table[T]) reach(row uint32) { t.objects = grown(t.objects, int(row)+1) }

// put changes a row, which has not changed in this step yet, for a reason.
func (t *table[T]) put(row uint32, obj T, reason index.Reason) {
	old := t.objects[row]
	if index.Same(old, obj) {
		return
	}
	t.objects[row] = obj
	if isNone(old) {
		t.count++
	}
	if isNone(obj) {
		t.count--
	}
	t.changes = append(t.changes, change[T]{row, old, obj, reason})
}

// settle ends a step.
func (t *table[T]) settle() {
	t.free = append(t.free, t.gone...)
	t.gone = kept(t.gone)
	clear(t.changes)
	t.changes = kept(t.changes)
}

// maxKept is the number of entries up to which the memory of a step is kept for the next.
const maxKept = 4096

// compare orders two rows by the keys of their objects.
func (t *table[T]) compare(a, b uint32) int { return compareKeys(t.objects[a], t.objects[b]) }

// isRenamed reports whether the object of a row has another key than before.
func isRenamed[T index.Object](c *change[T]) bool {
	return !isNone(c.old) && !isNone(c.now) && !sameKey(c.old, c.now)
}

// compareKeys orders objects by namespace, then by name.
func compareKeys[T index.Object](a, b T) int {
	if order := strings.Compare(a.GetNamespace(), b.GetNamespace()); order != 0 {
		return order
	}
	return strings.Compare(a.GetName(), b.GetName())
}
