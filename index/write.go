package index

import "slices"

// Apply makes changes in their order, then sets the resource version unless
// version is empty, and appends the events that result to dst, which it
// returns. Removing an object that is not there gives no event, unless the
// indexer was made WithLiteralEvents.
//
// All of it happens under one write lock: readers see either the state before
// all changes or the state after them. Index functions run before it, and what
// they or the objects' methods panic with goes on to the caller, with nothing
// changed.
func (x *Indexer[T]) Apply(dst []Event[T], changes []Change[T], version string) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage()
	x.locateChanges(changes)
	for i := range changes {
		if !changes[i].Delete {
			x.stage(changes[i].Object)
		}
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
	staged, stale := 0, false // an addition or removal makes positions stale
	for i := range changes {
		c, at := &changes[i], x.located[i]
		if stale {
			at = x.locate(c.Object)
		}
		stale = stale || at.found == c.Delete
		switch {
		case !c.Delete:
			dst = x.put(dst, at, c.Object, staged, c.Reason)
			staged++
		case at.found:
			dst = append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: x.objects.at(at.pos), New: c.Object})
			x.remove(at.pos)
		case x.literal:
			dst = append(dst, Event[T]{Type: Deleted, Reason: c.Reason, New: c.Object})
		}
	}
	x.afterWrite()
	return dst
}

func (x *Indexer[T]) afterWrite() {
	if x.written != nil {
		x.written()
	}
}

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
	defer x.unstage()
	for _, index := range x.indexes {
		index.prepare(len(list))
	}
	x.located = slices.Grow(x.located, len(list))
	x.hashes = slices.Grow(x.hashes, max(0, len(list)-len(x.hashes)))
	gone := int(x.objects.n)
	listed := make([]bool, x.objects.n)
	for block := range slices.Chunk(list, blockSize) {
		x.locateAll(block)
		for _, index := range x.indexes {
			for _, obj := range block {
				index.stage(obj)
			}
		}
	}
	var before map[uint32]T // what the list has again later; if events are literal
	for _, at := range x.located {
		switch {
		case !at.found:
		case !listed[at.pos]:
			listed[at.pos] = true
			gone--
		case x.literal:
			if before == nil {
				before = map[uint32]T{}
			}
			before[at.pos] = x.objects.at(at.pos)
		}
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
	x.version = version
	x.slots.reserve(x.keysEpoch.gen, uint32(len(list)+gone))
	dst = slices.Grow(dst, len(list)+gone)
	for pos, ok := range listed {
		if !ok {
			obj := x.objects.at(uint32(pos))
			dst = append(dst, Event[T]{Type: Deleted, Reason: reason, Old: obj, New: obj})
		}
	}
	for i, obj := range list {
		at := x.located[i]
		again := false
		if !at.found && x.slots.has(at.hash) {
			at = x.locate(obj) // it may be in the list twice
			again = at.found
		}
		if at.found && x.unchanged != nil && x.unchanged(x.objects.at(at.pos), obj) {
			continue
		}
		dst = x.put(dst, at, obj, i, reason)
		if !x.literal {
			continue
		}
		event := &dst[len(dst)-1]
		if again {
			*event = Event[T]{Type: Added, Reason: reason, New: obj}
		} else if old, ok := before[at.pos]; ok && at.found {
			event.Old = old
		}
	}
	for pos := len(listed) - 1; pos >= 0 && gone > 0; pos-- { // the last first: no other one of them moves
		if !listed[pos] {
			x.remove(uint32(pos))
			gone--
		}
	}
	x.afterWrite()
	return dst
}

// SetResourceVersion notes that the state is still current at version, as a
// bookmark says, or that it is not known at which, if version is empty.
func (x *Indexer[T]) SetResourceVersion(version string) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin("")
	x.version = version
}

// Clear lets go of all objects, without events. Indexes stay added, and are
// empty. Snapshots that were taken stay as they are.
func (x *Indexer[T]) Clear() {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin("")
	x.version = ""
	x.objects, x.slots, x.hashes = vector[T]{}, slots[T]{}, nil
	x.namespaces.reset()
	for _, index := range x.indexes {
		index.reset()
	}
}

// located is what is known of an object that is to be written: the hash of its
// key, and the position of the object with that key, if there is one.
type located struct {
	hash, pos uint32
	found     bool
}

// locate looks an object's key up. The caller holds writer, so that no lock is
// needed to read.
func (x *Indexer[T]) locate(obj T) located {
	key := KeyOf(obj)
	at := located{hash: hashKey(x.seed, key)}
	if s := findSlot(&x.slots.pages, &x.namespaces.posts.byID.pages, at.hash, key); s != nil {
		at.pos, at.found = s.place-1, true
	}
	return at
}

// blockSize is how many objects are looked at together.
const blockSize = 16

// locateAll appends what locate returns for each of up to blockSize objects to
// x.located. It takes one step for all of them before the next: almost each
// access to an object that was just decoded waits for memory, and so the
// processor waits for many at once.
func (x *Indexer[T]) locateAll(objs []T) {
	var keys [blockSize]Key
	for i, obj := range objs {
		keys[i] = KeyOf(obj)
	}
	from := len(x.located)
	for i := range objs {
		x.located = append(x.located, located{hash: hashKey(x.seed, keys[i])})
	}
	for i := range objs {
		at := &x.located[from+i]
		if s := findSlot(&x.slots.pages, &x.namespaces.posts.byID.pages, at.hash, keys[i]); s != nil {
			at.pos, at.found = s.place-1, true
		}
	}
}

// locateChanges does the same for the objects of changes.
func (x *Indexer[T]) locateChanges(changes []Change[T]) {
	if len(changes) == 1 {
		x.located = append(x.located, x.locate(changes[0].Object))
		return
	}
	var block [blockSize]T
	for chunk := range slices.Chunk(changes, blockSize) {
		for i := range chunk {
			block[i] = chunk[i].Object
		}
		x.locateAll(block[:len(chunk)])
	}
}

func (x *Indexer[T]) stage(obj T) {
	for _, index := range x.indexes {
		index.stage(obj)
	}
}

func (x *Indexer[T]) unstage() {
	x.located = reuse(x.located)
	for _, index := range x.indexes {
		index.unstage()
	}
}

// begin comes before the first write under the lock.
func (x *Indexer[T]) begin(version string) {
	x.snapshot = nil
	x.objectsEpoch.begin()
	x.keysEpoch.begin()
	x.namespaces.begin()
	for _, index := range x.indexes {
		index.begin()
	}
	if version != "" {
		x.version = version
	}
}

// put stores an object, at its position if it has one. Its index keys are those
// that were staged under the number staged.
func (x *Indexer[T]) put(dst []Event[T], at located, obj T, staged int, reason Reason) []Event[T] {
	pos := at.pos
	if !at.found {
		pos = x.objects.n
		key := KeyOf(obj)
		x.slots.insert(x.keysEpoch.gen, slot[T]{
			hash: at.hash, place: pos + 1, name: key.Name, object: obj,
			namespace: x.namespaces.posts.addUnder(key.Namespace),
		})
		x.hashes = append(x.hashes, at.hash)
		x.objects.push(x.objectsEpoch.gen, obj)
		for _, index := range x.indexes {
			index.add()
			index.assign(pos, staged)
		}
		return append(dst, Event[T]{Type: Added, Reason: reason, New: obj})
	}
	stored := x.slots.change(x.keysEpoch.gen, x.slots.number(at.hash, pos))
	old := stored.object
	stored.object = obj
	x.objects.set(x.objectsEpoch.gen, pos, obj)
	for _, index := range x.indexes {
		index.assign(pos, staged)
	}
	if x.recreated != nil && x.recreated(old, obj) {
		return append(dst,
			Event[T]{Type: Deleted, Reason: Recreated, Old: old, New: old},
			Event[T]{Type: Added, Reason: Recreated, New: obj})
	}
	return append(dst, Event[T]{Type: Updated, Reason: reason, Old: old, New: obj})
}

// remove takes out the object at pos; the last object moves there.
func (x *Indexer[T]) remove(pos uint32) {
	gen := x.keysEpoch.gen
	x.slots.remove(gen, x.hashes[pos], pos)
	last := x.objects.n - 1
	if last != pos {
		x.slots.change(gen, x.slots.number(x.hashes[last], last)).place = pos + 1
		x.hashes[pos] = x.hashes[last]
		x.objects.set(x.objectsEpoch.gen, pos, x.objects.at(last))
	}
	x.hashes = x.hashes[:last]
	x.objects.pop(x.objectsEpoch.gen)
	x.namespaces.remove(pos)
	for _, index := range x.indexes {
		index.remove(pos)
	}
}
