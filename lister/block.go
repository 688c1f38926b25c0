package lister

import "github.com/kubetyped/informer/index"

// blockSize is how many objects are looked at together.
const blockSize = 64

// block matches objects a few at a time. In a large store almost every access
// to an object waits for memory; doing the same step for many objects, before
// the next step, lets the processor wait for many of them at once.
type block[T index.Labeled] struct {
	n       int
	objects [blockSize]T
	labels  [blockSize]map[string]string
}

// add takes an object, and reports whether the block is full.
func (b *block[T]) add(obj T) bool {
	b.objects[b.n] = obj
	b.n++
	return b.n == blockSize
}

// flush passes the objects that match to yield, in order, and empties the block. It reports
// whether to continue.
func (b *block[T]) flush(m *matcher, yield func(T) bool) bool {
	n := b.n
	b.n = 0
	for i, obj := range b.objects[:n] {
		b.labels[i] = obj.GetLabels()
	}
	enough := 0 // objects with at least as many labels as are asked for
	for i, have := range b.labels[:n] {
		if len(have) >= len(m.equal) {
			b.labels[enough], b.objects[enough] = have, b.objects[i]
			enough++
		}
	}
	for i, have := range b.labels[:enough] {
		if m.matches(have) && !yield(b.objects[i]) {
			return false
		}
	}
	return true
}
