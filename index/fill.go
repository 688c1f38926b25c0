package index

import "slices"

// fill is Replace for an empty store. It fills another one, which nobody reads, and
// takes over what is in it: so each block of objects is stored while what was read
// of them is in the processor's caches, and readers wait for the exchange alone.
func (x *Indexer[T]) fill(dst []Event[T], list []T, version string, reason Reason) []Event[T] {
	f := x.fork()
	f.slots.reserve(f.keysEpoch.gen, uint32(len(list)))
	f.hashes = make([]uint32, 0, len(list))
	for _, index := range f.indexes {
		index.reserve(len(list))
	}
	dst = slices.Grow(dst, len(list))
	for block := range slices.Chunk(list, blockSize) {
		f.stageBlock(block)
		dst = f.putAll(dst, block, 0, nil, reason)
		f.unstage(maxScratch)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.adopt(f)
	x.version = version
	return dst
}

// fork returns an indexer for the objects of x, which is empty. The caller holds
// writer.
func (x *Indexer[T]) fork() *Indexer[T] {
	f := &Indexer[T]{options: x.options, seed: x.seed}
	f.objectsEpoch.gen, f.keysEpoch.gen = x.objectsEpoch.gen, x.keysEpoch.gen
	f.namespaces = &Index[string, T]{posts: x.namespaces.posts.fork()}
	for _, index := range x.indexes {
		f.indexes = append(f.indexes, index.fork())
	}
	return f
}

// adopt takes over the contents of a fork.
func (x *Indexer[T]) adopt(f *Indexer[T]) {
	x.snapshot = nil
	x.objects, x.slots, x.hashes = f.objects, f.slots, f.hashes
	x.objectsEpoch.renew()
	x.keysEpoch.renew()
	x.namespaces.adopt(f.namespaces)
	for i, index := range x.indexes {
		index.adopt(f.indexes[i])
	}
}
