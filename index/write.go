package index

import (
	"slices"
	"strings"
)

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
	if x.released {
		return dst
	}
	defer x.unstage(maxScratch)
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
			name := at.name
			at = x.locate(c.key())
			at.name = name
		}
		stale = stale || at.found == c.Delete
		switch {
		case !c.Delete:
			dst = x.put(dst, at, c.Object, staged, c.Reason)
			staged++
		case at.found:
			old, last := x.objects.at(at.pos), c.Object
			if c.Key != nil {
				last = old
			}
			dst = append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: old, New: last})
			x.remove(at.pos)
		case x.literal && c.Key == nil:
			dst = append(dst, Event[T]{Type: Deleted, Reason: c.Reason, New: c.Object})
		}
	}
	return dst
}

// SetResourceVersion notes that the state is still current at version, as a
// bookmark says, or that it is not known at which, if version is empty.
func (x *Indexer[T]) SetResourceVersion(version string) {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.released {
		return
	}
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
	x.version = ""
	x.clear()
}

// clear lets go of all objects, and leaves what readers hold of them alone.
func (x *Indexer[T]) clear() {
	x.begin("")
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
	name      uint32 // place of a copy of the key's name in Indexer.names, plus one; 0: there is none
	found     bool
}

// locate looks a key up. The caller holds writer, so that no lock is needed to
// read.
func (x *Indexer[T]) locate(key Key) located {
	at := located{hash: hashKey(x.seed, key)}
	if s := findSlot(&x.slots.pages, &x.namespaces.posts.byID.pages, at.hash, key); s != nil {
		at.pos, at.found = s.place-1, true
	}
	return at
}

// blockSize is how many objects are looked at together.
const blockSize = 16

// locateObjects appends what locate returns for the keys of up to blockSize
// objects to x.located. It takes one step for all of them before the next:
// almost each access to an object that was just decoded waits for memory, and so
// the processor waits for many at once.
func (x *Indexer[T]) locateObjects(objs []T) {
	var keys [blockSize]Key
	for i, obj := range objs {
		keys[i] = KeyOf(obj)
	}
	x.locateKeys(keys[:len(objs)])
}

func (x *Indexer[T]) locateKeys(keys []Key) {
	from := len(x.located)
	for i := range keys {
		x.located = append(x.located, located{hash: hashKey(x.seed, keys[i])})
	}
	for i := range keys {
		at := &x.located[from+i]
		if s := findSlot(&x.slots.pages, &x.namespaces.posts.byID.pages, at.hash, keys[i]); s != nil {
			at.pos, at.found = s.place-1, true
		}
	}
	for i := range keys {
		if at := &x.located[from+i]; !at.found {
			x.names = append(x.names, strings.Clone(keys[i].Name))
			at.name = uint32(len(x.names))
		}
	}
}

// locateChanges does the same for the objects of changes.
func (x *Indexer[T]) locateChanges(changes []Change[T]) {
	if len(changes) == 1 {
		x.located = append(x.located, x.locate(changes[0].key()))
		return
	}
	var keys [blockSize]Key
	for chunk := range slices.Chunk(changes, blockSize) {
		for i := range chunk {
			keys[i] = chunk[i].key()
		}
		x.locateKeys(keys[:len(chunk)])
	}
}

func (x *Indexer[T]) stage(obj T) {
	for _, index := range x.indexes {
		index.stage(obj)
	}
}

// unstage forgets what is known of a batch, and keeps memory for keep elements at
// most of each kind.
func (x *Indexer[T]) unstage(keep int) {
	x.located = reuse(x.located, keep)
	x.names = reuse(x.names, keep)
	for _, index := range x.indexes {
		index.unstage(keep)
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
		namespace := x.namespaces.posts.addUnder(obj.GetNamespace())
		x.slots.insert(x.keysEpoch.gen, newSlot(at.hash, pos+1, x.copyOfName(at, obj), namespace, obj))
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

// copyOfName returns a copy of the name of an object. Memory is asked for while the
// object is located, if it is one of several.
func (x *Indexer[T]) copyOfName(at located, obj T) string {
	if at.name != 0 {
		return x.names[at.name-1]
	}
	return strings.Clone(obj.GetName())
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
