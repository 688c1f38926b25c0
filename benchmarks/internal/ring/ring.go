// Package ring hands out the elements of a slice, over and over.
package ring

// Ring hands out elements. It is for one goroutine.
type Ring[E any] struct {
	elements []E
	at       int
}

// Of returns a ring of elements, of which there has to be one. It keeps the
// slice.
func Of[E any](elements []E) *Ring[E] { return &Ring[E]{elements: elements} }

// Next returns the next element: after the last one, the first.
func (r *Ring[E]) Next() E {
	e := r.elements[r.at]
	if r.at++; r.at == len(r.elements) {
		r.at = 0
	}
	return e
}
