package index

import "slices"

// maxInPlace is the number of changes up to which they are made in place, with
// readers waiting: they take less than a millisecond. More of them are made to a
// fork.
const maxInPlace = 256

// Apply makes changes in their order, then sets the resource version unless
// version is empty, and appends the events that result to dst, which it
// returns. Removing an object that is not there gives no event, unless the
// indexer was made WithLiteralEvents.
//
// Readers see either the state before all changes or the state after them. They wait
// while up to 256 changes are made; with more of them they do not wait, and each page
// of the store that is touched is copied. Index functions, functions of options and
// the objects' methods run before anything is changed, and what they panic with goes
// on to the caller.
func (x *Indexer[T]) Apply(dst []Event[T], changes []Change[T], version string) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return dst
	}
	switch {
	case len(changes) == 1:
		dst = x.applyOne(dst, &changes[0], version)
	case len(changes) <= maxInPlace:
		dst = x.applySome(dst, changes, version)
	default:
		f := x.fork()
		for some := range slices.Chunk(changes, maxInPlace) {
			dst = f.applySome(dst, some, "")
		}
		if version == "" {
			version = x.version
		}
		x.adopt(f, version)
	}
	if x.uncompacted += len(changes); x.uncompacted >= maxInPlace {
		x.compact()
	}
	return dst
}

// applyOne makes a change in place. It does what applySome does, without the notes
// that this takes of each of several changes.
func (x *Indexer[T]) applyOne(dst []Event[T], c *Change[T], version string) []Event[T] {
	defer x.unstageIndexes(maxScratch)
	key := c.key()
	at := x.locate(key)
	if !c.Delete {
		x.stage(c.Object)
	}
	found, old := x.before(at)
	dst = x.appendChange(dst, found, old, c)

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin()
	if version != "" {
		x.version = version
	}
	switch {
	case !c.Delete:
		x.put(at, key, c.Object, 0)
	case at.found:
		x.remove(at.pos)
	}
	return dst
}

// applySome makes some changes in place.
func (x *Indexer[T]) applySome(dst []Event[T], changes []Change[T], version string) []Event[T] {
	defer x.unstage(maxScratch)
	x.locateChanges(changes)
	for i := range changes {
		if !changes[i].Delete {
			x.stage(changes[i].Object)
		}
	}
	dst = x.tell(dst, changes)
	x.make(changes, version)
	return dst
}

// locateChanges locates the objects of changes.
func (x *Indexer[T]) locateChanges(changes []Change[T]) {
	b := &x.batch
	for i := range changes {
		b.keys = append(b.keys, changes[i].key())
	}
	for from := 0; from < len(changes); from += blockSize {
		to := min(from+blockSize, len(changes))
		x.locateKeys(b.keys[from:to])
		for i := from; i < to; i++ {
			if at := &b.located[i]; !at.found && !changes[i].Delete {
				b.copyText(x.keyStrings, b.keys[i], at)
			}
		}
	}
}

// tell appends the events of changes that were located and that are not made yet.
func (x *Indexer[T]) tell(dst []Event[T], changes []Change[T]) []Event[T] {
	b := &x.batch
	b.forgetLatest(len(changes))
	for i := range changes {
		found, old := x.before(b.located[i])
		if before := b.noteLatest(i); before >= 0 {
			found, old = !changes[before].Delete, changes[before].Object
		}
		dst = x.appendChange(dst, found, old, &changes[i])
	}
	return dst
}

// before returns the object that is there now, if there is one.
func (x *Indexer[T]) before(at located) (found bool, old T) {
	if at.found {
		old = x.objects.at(at.pos)
	}
	return at.found, old
}

// appendChange appends the events of a change to old, if that was found.
func (x *Indexer[T]) appendChange(dst []Event[T], found bool, old T, c *Change[T]) []Event[T] {
	switch {
	case !c.Delete:
		return x.appendPut(dst, found, old, c.Object, c.Reason)
	case found && c.Key != nil:
		return append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: old, New: old})
	case found:
		return append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: old, New: c.Object})
	case x.literal && c.Key == nil:
		return append(dst, Event[T]{Type: Deleted, Reason: c.Reason, New: c.Object})
	default:
		return dst
	}
}

// appendPut appends the events of an object that is stored, in the place of old if
// that was found.
func (x *Indexer[T]) appendPut(dst []Event[T], found bool, old, obj T, reason Reason) []Event[T] {
	if !found {
		return append(dst, Event[T]{Type: Added, Reason: reason, New: obj})
	}
	if x.recreated != nil && x.recreated(old, obj) {
		return append(dst,
			Event[T]{Type: Deleted, Reason: Recreated, Old: old, New: old},
			Event[T]{Type: Added, Reason: Recreated, New: obj})
	}
	return append(dst, Event[T]{Type: Updated, Reason: reason, Old: old, New: obj})
}

// make makes changes that were located and staged. Nothing in it can panic.
func (x *Indexer[T]) make(changes []Change[T], version string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin()
	if version != "" {
		x.version = version
	}
	b := &x.batch
	staged, stale := 0, false // an addition or removal makes positions stale
	for i := range changes {
		c, at := &changes[i], b.located[i]
		if stale {
			text := at.text
			at = x.locate(b.keys[i])
			at.text = text
		}
		stale = stale || at.found == c.Delete
		switch {
		case !c.Delete:
			x.put(at, b.keys[i], c.Object, staged)
			staged++
		case at.found:
			x.remove(at.pos)
		}
	}
}

// SetResourceVersion sets the version at which the state is current, as a bookmark
// tells it; it is empty if that is not known.
func (x *Indexer[T]) SetResourceVersion(version string) {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released || x.version == version {
		return
	}
	x.mu.Lock()
	x.snapshot = nil
	x.version = version
	x.mu.Unlock()
}

// clear lets go of all objects, makes room for n others, and leaves what readers hold
// of them alone.
func (x *Indexer[T]) clear(n int) {
	x.begin()
	x.objects, x.hashes = roomFor[T](&x.objectsEpoch, n), roomFor[uint32](&x.keysEpoch, n)
	x.keys = hashTable[slot[T]]{}
	x.namespaces.reset(n)
	for _, index := range x.indexes {
		index.reset(n)
	}
}

// begin comes before the first write under the lock.
func (x *Indexer[T]) begin() {
	x.snapshot = nil
	x.objectsEpoch.begin()
	x.keysEpoch.begin()
	x.namespaces.begin()
	for _, index := range x.indexes {
		index.begin()
	}
}

// put stores an object, at its position if it has one. Its index keys are those
// that were staged under the number staged.
func (x *Indexer[T]) put(at located, key Key, obj T, staged int) {
	if at.found {
		x.keys.change(&x.keysEpoch, at.hash, at.pos+1).value.object = obj
		x.objects.set(&x.objectsEpoch, at.pos, obj)
		for _, index := range x.indexes {
			index.assign(at.pos, staged)
		}
		return
	}
	pos := x.objects.n
	namespace := x.namespaces.posts.addUnder(key.Namespace)
	x.keys.insert(&x.keysEpoch, entry[slot[T]]{
		hash: at.hash, place: pos + 1, value: newSlot(x.text(at, key), namespace, obj),
	})
	x.hashes.push(&x.keysEpoch, at.hash)
	x.objects.push(&x.objectsEpoch, obj)
	for _, index := range x.indexes {
		index.add()
		index.assign(pos, staged)
	}
}

// remove takes out the object at pos; the last object moves there.
func (x *Indexer[T]) remove(pos uint32) {
	e := &x.keysEpoch
	x.keys.remove(e, x.hashes.at(pos), pos+1)
	last := x.objects.n - 1
	if last != pos {
		hash := x.hashes.at(last)
		x.keys.change(e, hash, last+1).place = pos + 1
		x.hashes.set(e, pos, hash)
		x.objects.set(&x.objectsEpoch, pos, x.objects.at(last))
	}
	x.hashes.pop(e)
	x.objects.pop(&x.objectsEpoch)
	x.namespaces.remove(pos)
	for _, index := range x.indexes {
		index.remove(pos)
	}
}
