package index

import "slices"

// Replace makes list the content of the store and version its resource
// version, and appends the events that result to dst, which it returns: first
// the deletion of every object that is not in the list, then, in the order of
// the list, an addition or update for each that is. All of them have the given
// reason. An object that is in the list twice is added, then updated, unless the
// indexer was made WithLiteralEvents.
//
// Readers see the state before it or all of it, and wait for neither. Each page of the store
// that is touched is copied; a list that has no object of the store makes a new one. The list
// is not kept. A panic of the caller's functions or methods reaches the caller, and changes
// nothing.
func (x *Indexer[T]) Replace(dst []Event[T], list []T, version string, reason Reason) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return dst
	}
	defer x.unstage(0)
	f := x.fork()
	dst = slices.Grow(dst, len(list))
	if x.objects.n == 0 {
		dst = f.fill(dst, list, reason)
	} else {
		listed, none := x.locateList(list)
		gone := make([]uint32, 0, x.objects.n/8)
		for pos, isListed := range listed {
			if !isListed {
				gone = append(gone, uint32(pos))
			}
		}
		dst = x.appendDeleted(dst, gone, reason)
		if none {
			dst = f.fill(dst, list, reason)
		} else {
			dst = f.merge(dst, gone, list, x.batch.located, reason)
		}
	}
	x.adopt(f, version)
	x.compact()
	return dst
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
	listed, _ := x.locateList(list)
	gone := slices.DeleteFunc(x.inNamespace(namespace), func(pos uint32) bool { return listed[pos] })
	slices.Sort(gone)
	if version == "" {
		version = x.version
	}
	dst = x.appendDeleted(slices.Grow(dst, len(gone)+len(list)), gone, reason)
	f := x.fork()
	dst = f.merge(dst, gone, list, x.batch.located, reason)
	x.adopt(f, version)
	x.compact()
	return dst
}

// inNamespace returns the positions of the objects of a namespace, in a slice that the caller
// may change. The caller holds writer.
func (x *Indexer[T]) inNamespace(namespace string) []uint32 {
	posts := x.namespaces.posts
	id := posts.find(hashOf(posts.seed, namespace), namespace)
	if id == 0 {
		return nil
	}
	found := placesOf(posts.posts.ref(id))
	list := make([]uint32, 0, found.n)
	for i := range found.count() {
		list = append(list, found.page(i)...)
	}
	return list
}

// locateList locates the objects of a list. It reports, by position, which objects of the
// store are in the list, and whether none of them is. The caller holds writer.
func (x *Indexer[T]) locateList(list []T) (listed []bool, none bool) {
	b := &x.batch
	b.located = slices.Grow(b.located, len(list))
	var keys [blockSize]Key
	for block := range slices.Chunk(list, blockSize) {
		for i, obj := range block {
			keys[i] = KeyOf(obj)
		}
		x.locateKeys(keys[:len(block)])
	}
	listed, none = make([]bool, x.objects.n), true
	for _, at := range b.located {
		if at.found {
			listed[at.pos], none = true, false
		}
	}
	return listed, none
}

// appendDeleted appends deletions of the objects at some positions.
func (x *Indexer[T]) appendDeleted(dst []Event[T], gone []uint32, reason Reason) []Event[T] {
	dst = slices.Grow(dst, len(gone))
	for _, pos := range gone {
		obj := x.objects.at(pos)
		dst = append(dst, Event[T]{Type: Deleted, Reason: reason, Old: obj, New: obj})
	}
	return dst
}

// fill replaces all objects of a fork by those of a list.
func (x *Indexer[T]) fill(dst []Event[T], list []T, reason Reason) []Event[T] {
	x.clear(len(list))
	x.keys = makeHashTable[T, keyText](&x.keysEpoch, len(list))
	return x.putAll(dst, list, nil, reason)
}

// merge puts the objects of a list, which were located, into a fork, and takes out
// those at the positions gone, which are in ascending order.
func (x *Indexer[T]) merge(dst []Event[T], gone []uint32, list []T, at []located, reason Reason) []Event[T] {
	dst = x.putAll(dst, list, at, reason)
	for _, pos := range slices.Backward(gone) { // the last first: no other one of them moves
		x.remove(pos)
	}
	return dst
}

// putAll stores the objects of a list in a fork, each block of them while what was
// read of them is in the processor's caches. If at is nil they are located here.
func (x *Indexer[T]) putAll(dst []Event[T], list []T, at []located, reason Reason) []Event[T] {
	before := x.statesBefore(at)
	b := &x.batch
	b.keys = slices.Grow(b.keys, min(blockSize, len(list)))
	b.located = slices.Grow(b.located, min(blockSize, len(list)))
	b.texts = slices.Grow(b.texts, min(blockSize, len(list)))
	for done := 0; done < len(list); done += blockSize {
		block := list[done:min(done+blockSize, len(list))]
		if at == nil {
			for _, obj := range block {
				b.keys = append(b.keys, KeyOf(obj))
			}
			x.locateKeys(b.keys)
		} else {
			b.keysOfNew(block, at[done:done+len(block)])
		}
		b.copyTexts()
		for _, index := range x.indexes {
			for _, obj := range block {
				index.stage(obj)
			}
		}
		for i, obj := range block {
			dst = x.putListed(dst, i, obj, before, reason)
		}
		x.unstage(maxScratch)
	}
	return dst
}

// putListed stores object i of a block of a list.
func (x *Indexer[T]) putListed(dst []Event[T], i int, obj T, before *statesBefore[T], reason Reason) []Event[T] {
	key, at := x.batch.keys[i], x.batch.located[i]
	if !at.found && x.keys.has(at.hash) { // it may be in the list twice
		text := at.text
		at = x.locate(key)
		at.text = text
	}
	var old T
	if at.found {
		old = x.objects.at(at.pos)
		if x.unchanged != nil && x.unchanged(old, obj) {
			return dst
		}
	}
	if before != nil {
		found, literally := before.state(at, old)
		dst = x.appendPut(dst, found, literally, obj, reason)
	} else {
		dst = x.appendPut(dst, at.found, old, obj, reason)
	}
	x.put(at, key, obj, i)
	return dst
}

// statesBefore is what events of a list are to name as the old states, if they are
// literal: those before the list.
type statesBefore[T Object] struct {
	known uint32       // number of objects before the list
	twice map[uint32]T // by position, the objects that the list has twice
}

// statesBefore returns nil if events are not literal.
func (x *Indexer[T]) statesBefore(at []located) *statesBefore[T] {
	if !x.literal {
		return nil
	}
	before := &statesBefore[T]{known: x.objects.n, twice: map[uint32]T{}}
	listed := make([]bool, x.objects.n)
	for _, at := range at {
		switch {
		case !at.found:
		case listed[at.pos]:
			before.twice[at.pos] = x.objects.at(at.pos)
		default:
			listed[at.pos] = true
		}
	}
	return before
}

// state returns the state before the list of an object that is to be stored; now is
// the one that is there now.
func (b *statesBefore[T]) state(at located, now T) (found bool, old T) {
	if !at.found || at.pos >= b.known {
		return false, old
	}
	if old, ok := b.twice[at.pos]; ok {
		return true, old
	}
	return true, now
}
