package index

import "slices"

// maxInPlace is the number of changes up to which they are made in place, with
// readers waiting: they take less than a millisecond. More of them are made to a
// fork.
const maxInPlace = 256

// maxCheap is the number up to which they are if only maxInPlace of them are more than
// writing two pointers, see costly.
const maxCheap = 1024

// Apply makes changes in their order, then sets the resource version unless
// version is empty, and appends the events that result to dst, which it
// returns. Removing an object that is not there gives no event, unless the
// indexer was made WithLiteralEvents.
//
// Readers see either the state before all changes or the state after them. They wait while up
// to 256 changes are made, or up to 1,024 if no more than 256 of them are more than cheap; an
// update is cheap in a store without indexes if no reader may hold the pages that it writes
// to. Otherwise they do not wait, and each page of the store that is touched is copied. Index
// functions, functions of options and the objects' methods run before anything is changed, and
// their panics reach the caller.
func (x *Indexer[T]) Apply(dst []Event[T], changes []Change[T], version string) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return dst
	}
	changes = x.counting(changes)
	switch {
	case len(changes) == 1:
		dst = x.applyOne(dst, &changes[0], version)
	case len(changes) <= maxInPlace:
		dst = x.applySome(dst, changes, version)
	case len(changes) <= maxCheap:
		dst = x.applyMany(dst, changes, version)
	default:
		dst = x.applyToFork(dst, changes, version)
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

	counted := !at.found || c.Delete || x.optimistic.words > 1
	x.lock(counted)
	defer x.unlock(counted)
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
	dst = x.appendEvents(dst, changes)
	x.make(changes, version)
	return dst
}

// applyMany makes changes in place if most of them are cheap, for which there must be no
// index, and otherwise to a fork.
func (x *Indexer[T]) applyMany(dst []Event[T], changes []Change[T], version string) []Event[T] {
	defer x.unstage(maxScratch)
	x.locateChanges(changes)
	if x.costly(changes) <= maxInPlace {
		if events := x.appendEvents(dst, changes); x.makeUnshared(changes, version) {
			return events
		}
	}
	x.unstage(maxScratch)
	return x.applyToFork(dst, changes, version)
}

// costly returns how many of some changes, which were located, are more than updates that
// copy no page and concern no index.
func (x *Indexer[T]) costly(changes []Change[T]) int {
	if len(x.indexes) > 0 || x.shared() {
		return len(changes)
	}
	n := 0
	for i := range changes {
		at := &x.batch.located[i]
		if changes[i].Delete || !at.found || !x.objects.owned(&x.objectsEpoch, at.pos) || !x.keys.owned(&x.keysEpoch, at.hash) {
			n++
		}
	}
	return n
}

// applyToFork makes changes to a fork, and then exchanges that. Readers wait for none of
// the changes.
func (x *Indexer[T]) applyToFork(dst []Event[T], changes []Change[T], version string) []Event[T] {
	f := x.fork()
	for some := range slices.Chunk(changes, maxInPlace) {
		dst = f.applySome(dst, some, "")
	}
	if version == "" {
		version = x.version
	}
	x.adopt(f, version)
	return dst
}

// shared reports whether a reader has taken a view of the current state.
func (x *Indexer[T]) shared() bool { return x.objectsEpoch.shared.Load() || x.keysEpoch.shared.Load() }

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
				b.copyText(b.keys[i], at)
			}
		}
	}
}

// appendEvents appends the events of changes that were located and are not made yet.
func (x *Indexer[T]) appendEvents(dst []Event[T], changes []Change[T]) []Event[T] {
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

// appendPut appends the events of an object that is stored, and that replaces old if that was
// found.
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
	x.lock(true)
	defer x.unlock(true)
	x.makeLocked(changes, version)
}

// makeUnshared is make unless a reader has taken a view of the current state. It reports
// whether it has made the changes.
func (x *Indexer[T]) makeUnshared(changes []Change[T], version string) bool {
	x.lock(true)
	defer x.unlock(true)
	if x.shared() {
		return false
	}
	x.makeLocked(changes, version)
	return true
}

func (x *Indexer[T]) makeLocked(changes []Change[T], version string) {
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

// SetResourceVersion sets the version at which the state is current, as a bookmark reports it;
// empty means unknown.
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

// clear removes all objects, makes room for n others, and leaves the pages that readers hold
// as they are.
func (x *Indexer[T]) clear(n int) {
	x.begin()
	x.objects, x.hashes = roomFor[T](&x.objectsEpoch, n), roomFor[uint32](&x.keysEpoch, n)
	x.keys = hashTable[T, keyText]{}
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
		x.keys.setObject(&x.keysEpoch, at.hash, at.pos+1, obj)
		x.objects.set(&x.objectsEpoch, at.pos, obj)
		for _, index := range x.indexes {
			index.assign(at.pos, staged)
		}
		return
	}
	pos := x.objects.n
	x.keys.insert(&x.keysEpoch, entry[T, keyText]{
		hash: at.hash, place: pos + 1, object: obj, text: newKeyText(key, x.batch.text(at, key)),
	})
	x.hashes.push(&x.keysEpoch, at.hash)
	x.namespaces.posts.addUnder(key.Namespace)
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
		x.keys.setPlace(e, hash, last+1, pos+1)
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
