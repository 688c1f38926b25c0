package report

// Heap is an estimate of the memory that an informer's objects take, without its store and
// its indexes.
type Heap struct {
	// Objects is how many objects there are, and Sampled how many of them were measured.
	Objects, Sampled int
	// Bytes is the memory of all, if the others are like those that were measured. What
	// several objects refer to is counted once among those that were measured, so that parts
	// that many share are counted too often rather than too rarely.
	Bytes int64
}
