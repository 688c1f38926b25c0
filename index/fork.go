package index

// fork returns an indexer with the contents of x, for a write of any size: it has no readers,
// and leaves all pages of x as they are. If it is dropped, nothing has happened. The caller
// holds writer.
func (x *Indexer[T]) fork() *Indexer[T] {
	f := &Indexer[T]{
		options: x.options, hasher: x.hasher,
		objects: x.objects, hashes: x.hashes, keys: x.keys,
		namespaces: x.namespaces.with(x.namespaces.posts.fork()),
	}
	f.objectsEpoch.fork(&x.objectsEpoch)
	f.keysEpoch.fork(&x.keysEpoch)
	for _, index := range x.indexes {
		f.indexes = append(f.indexes, index.fork())
	}
	return f
}

// adopt makes the contents of a fork those of x. Readers wait for that alone.
func (x *Indexer[T]) adopt(f *Indexer[T], version string) {
	x.lock(true)
	defer x.unlock(true)
	x.snapshot = nil
	x.version = version
	x.objects, x.hashes, x.keys = f.objects, f.hashes, f.keys
	x.objectsEpoch.adopt(&f.objectsEpoch)
	x.keysEpoch.adopt(&f.keysEpoch)
	x.namespaces.adopt(f.namespaces)
	for i, index := range x.indexes {
		index.adopt(f.indexes[i])
	}
}

// compact gives back memory of indexes most of which is not used any more. Readers
// wait for none of the work. The caller holds writer.
func (x *Indexer[T]) compact() {
	x.uncompacted = 0
	x.compactIndex(x.namespaces)
	for _, index := range x.indexes {
		x.compactIndex(index)
	}
}

// compactIndex replaces the contents of an index by the compacted ones, if it is worth it.
func (x *Indexer[T]) compactIndex(index Definition[T]) {
	if fork := index.compacted(); fork != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		index.adopt(fork)
	}
}
