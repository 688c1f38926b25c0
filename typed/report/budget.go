package report

import "time"

// Budget is the limit of objects and bytes of an informer, or of all informers of a
// factory, and its use.
type Budget struct {
	// Objects and Bytes are the limits, 0 for none.
	Objects, Bytes int64
	// Kept is how many objects there are.
	Kept int64
	// HeapBytes is what the objects weigh by the last estimate, 0 if there was none.
	HeapBytes int64
	// Used is the part of the nearer limit that is used, 1 for all of it.
	Used float64
	// Since is when Used came to 0.8 or more, zero if it is less.
	Since time.Time
}
