package report

import "time"

// Heap is an estimate of the memory that an informer's objects take, without its store and
// its indexes.
type Heap struct {
	// Objects is how many objects there are, and Sampled how many of them were measured.
	Objects, Sampled int
	// Bytes is the memory of all, if the others are like those that were measured. What
	// several objects refer to is counted once among those that were measured, so that parts
	// that many share are counted too often rather than too rarely.
	Bytes int64
	// Packed is the state of the objects that are kept as bytes.
	Packed Packed
}

// Packed is the state of the objects of an informer that are kept as bytes, see kube.Packed. It is
// a count of all, not an estimate.
type Packed struct {
	// Objects is how many there are, 0 if the informer keeps none as bytes.
	Objects int
	// Bytes is what they take with their bases, of which there are Bases, and Raw the size in which
	// the server sent them.
	Bytes, Raw int64
	Bases      int
	// Decoded counts the objects that were decoded from these bytes, on arrival not included, and
	// Decoding is how long that took, on all goroutines together.
	Decoded  uint64
	Decoding time.Duration
}
