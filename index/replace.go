package index

import "slices"

// Replace makes list the content of the store and version its resource
// version, and appends the events that result to dst, which it returns: first
// the deletion of every object that is not in the list, then, in the order of
// the list, an addition or update for each that is. All of them have the given
// reason. An object that is in the list twice is added, then updated, unless the
// indexer was made WithLiteralEvents.
//
// It happens under one write lock, as with Apply. The list is not kept.
func (x *Indexer[T]) Replace(dst []Event[T], list []T, version string, reason Reason) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return dst
	}
	if x.objects.n == 0 {
		return x.fill(dst, list, version, reason)
	}
	defer x.unstage(0)
	var gone []uint32
	for pos, listed := range x.stageList(list) {
		if !listed {
			gone = append(gone, uint32(pos))
		}
	}
	return x.exchange(dst, gone, list, version, reason)
}

// ReplaceNamespace does what Replace does with the objects of one namespace, and
// leaves the others alone. All objects of the list must be in that namespace.
// The resource version of the store becomes version, unless that is empty.
func (x *Indexer[T]) ReplaceNamespace(dst []Event[T], namespace string, list []T, version string, reason Reason) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return dst
	}
	defer x.unstage(0)
	listed := x.stageList(list)
	gone := slices.DeleteFunc(x.inNamespace(namespace), func(pos uint32) bool { return listed[pos] })
	slices.Sort(gone)
	if version == "" {
		version = x.version
	}
	return x.exchange(dst, gone, list, version, reason)
}

// inNamespace returns the positions of the objects of a namespace, in a slice of
// its own. The caller holds writer.
func (x *Indexer[T]) inNamespace(namespace string) []uint32 {
	posts := x.namespaces.posts
	id := posts.find(hashOf(posts.seed, namespace), namespace)
	if id == 0 {
		return nil
	}
	return posts.byID.at(id).list.collect()
}

// stageList locates and stages the objects of a list. It tells, by position,
// which objects of the store are in the list. The caller holds writer.
func (x *Indexer[T]) stageList(list []T) (listed []bool) {
	for _, index := range x.indexes {
		index.reserve(len(list))
		index.prepare(len(list))
	}
	x.located = slices.Grow(x.located, len(list))
	for block := range slices.Chunk(list, blockSize) {
		x.stageBlock(block)
	}
	listed = make([]bool, x.objects.n)
	for _, at := range x.located {
		if at.found {
			listed[at.pos] = true
		}
	}
	return listed
}

// stageBlock locates and stages up to blockSize objects.
func (x *Indexer[T]) stageBlock(block []T) {
	x.locateObjects(block)
	for _, index := range x.indexes {
		for _, obj := range block {
			index.stage(obj)
		}
	}
}

// exchange takes out the objects at the positions gone, which are in ascending
// order, and puts in those of a list that was staged. The caller holds writer.
func (x *Indexer[T]) exchange(dst []Event[T], gone []uint32, list []T, version string, reason Reason) []Event[T] {
	size := int(x.objects.n)
	for _, at := range x.located {
		if !at.found {
			size++
		}
	}
	x.hashes = slices.Grow(x.hashes, size-len(x.hashes))
	before := x.statesBefore()
	dst = slices.Grow(dst, len(list)+len(gone))

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
	x.version = version
	x.slots.reserve(x.keysEpoch.gen, uint32(size))
	for _, pos := range gone {
		obj := x.objects.at(pos)
		dst = append(dst, Event[T]{Type: Deleted, Reason: reason, Old: obj, New: obj})
	}
	dst = x.putAll(dst, list, x.objects.n, before, reason)
	for _, pos := range slices.Backward(gone) { // the last first: no other one of them moves
		x.remove(pos)
	}
	return dst
}

// putAll stores the objects of a list that was staged. Before the list there were
// known objects; before has those that events are to name, if they are literal.
func (x *Indexer[T]) putAll(dst []Event[T], list []T, known uint32, before map[uint32]T, reason Reason) []Event[T] {
	for i, obj := range list {
		at := x.located[i]
		if !at.found && x.slots.has(at.hash) {
			at = x.locate(KeyOf(obj)) // it may be in the list twice
		}
		if at.found && x.unchanged != nil && x.unchanged(x.objects.at(at.pos), obj) {
			continue
		}
		dst = x.put(dst, at, obj, i, reason)
		if !x.literal || !at.found {
			continue
		}
		event := &dst[len(dst)-1]
		if at.pos >= known {
			*event = Event[T]{Type: Added, Reason: reason, New: obj}
		} else if old, ok := before[at.pos]; ok {
			event.Old = old
		}
	}
	return dst
}

// statesBefore returns, by position, the objects of the store that a list which
// was staged has twice; if events are literal. The caller holds writer.
func (x *Indexer[T]) statesBefore() map[uint32]T {
	if !x.literal {
		return nil
	}
	before := map[uint32]T{}
	listed := make([]bool, x.objects.n)
	for _, at := range x.located {
		switch {
		case !at.found:
		case listed[at.pos]:
			before[at.pos] = x.objects.at(at.pos)
		default:
			listed[at.pos] = true
		}
	}
	return before
}
