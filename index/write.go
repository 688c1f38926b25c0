package index

// Apply makes changes in their order, then sets the resource version unless
// version is empty, and appends the events that result to dst, which it
// returns. Removing an object that is not there gives no event.
//
// All of it happens under one write lock: readers see either the state before
// all changes or the state after them. Index functions run before it, and what
// they or the objects' methods panic with goes on to the caller, with nothing
// changed.
func (x *Indexer[T]) Apply(dst []Event[T], changes []Change[T], version string) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage()
	for i := range changes {
		key := KeyOf(changes[i].Object)
		x.changed = append(x.changed, keyHash{key, hashKey(x.seed, key)})
		if !changes[i].Delete {
			x.stage(changes[i].Object)
		}
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
	staged := 0
	for i := range changes {
		c := &changes[i]
		key, hash := x.changed[i].key, x.changed[i].hash
		pos, found := findSlot(&x.keys.words.pages, &x.slots.pages, hash, key)
		switch {
		case !c.Delete:
			dst = x.put(dst, pos, found, hash, slot[T]{key, c.Object}, staged, c.Reason)
			staged++
		case found:
			dst = append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: x.objects.at(pos), New: c.Object})
			x.remove(pos, hash)
		}
	}
	return dst
}

// Replace makes list the content of the store and version its resource
// version, and appends the events that result to dst, which it returns: first
// the deletion of every object that is not in the list, then, in the order of
// the list, an addition or update for each that is. All of them have the given
// reason. An object that is in the list twice is added, then updated.
//
// It happens under one write lock, as with Apply. The list is not kept.
func (x *Indexer[T]) Replace(dst []Event[T], list []T, version string, reason Reason) []Event[T] {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage()
	for _, obj := range list {
		x.stage(obj)
	}
	gone := x.missing(list)

	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
	x.version = version
	if dst == nil {
		dst = make([]Event[T], 0, len(gone)+len(list))
	}
	for _, s := range gone {
		dst = append(dst, Event[T]{Type: Deleted, Reason: reason, Old: s.object, New: s.object})
		hash := hashKey(x.seed, s.key)
		if pos, ok := findSlot(&x.keys.words.pages, &x.slots.pages, hash, s.key); ok {
			x.remove(pos, hash)
		}
	}
	for i, obj := range list {
		key := KeyOf(obj)
		hash := hashKey(x.seed, key)
		pos, found := findSlot(&x.keys.words.pages, &x.slots.pages, hash, key)
		if found && x.unchanged != nil && x.unchanged(x.objects.at(pos), obj) {
			continue
		}
		dst = x.put(dst, pos, found, hash, slot[T]{key, obj}, i, reason)
	}
	return dst
}

// SetResourceVersion notes that the state is still current at version, as a
// bookmark says.
func (x *Indexer[T]) SetResourceVersion(version string) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(version)
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
	x.objects, x.slots, x.keys = vector[T]{}, vector[slot[T]]{}, table{}
	x.namespaces.reset()
	for _, index := range x.indexes {
		index.reset()
	}
}

// missing returns the slots of all objects that are not in list. The caller
// holds writer, so no lock is needed to read.
func (x *Indexer[T]) missing(list []T) []slot[T] {
	listed := make([]bool, x.objects.n)
	count := 0
	for _, obj := range list {
		key := KeyOf(obj)
		if pos, ok := findSlot(&x.keys.words.pages, &x.slots.pages, hashKey(x.seed, key), key); ok && !listed[pos] {
			listed[pos] = true
			count++
		}
	}
	gone := make([]slot[T], 0, len(listed)-count)
	for pos, ok := range listed {
		if !ok {
			gone = append(gone, x.slots.at(uint32(pos)))
		}
	}
	return gone
}

func (x *Indexer[T]) stage(obj T) {
	for _, index := range x.indexes {
		index.stage(obj)
	}
}

func (x *Indexer[T]) unstage() {
	x.changed = reuse(x.changed)
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

// put stores an object: at pos if found, else at a new position. Its index
// keys are those that were staged under the number staged.
func (x *Indexer[T]) put(dst []Event[T], pos uint32, found bool, hash uint32, s slot[T], staged int, reason Reason) []Event[T] {
	if !found {
		pos = x.objects.n
		x.keys.insert(x.keysEpoch.gen, hash, pos)
		s.key.Namespace = x.namespaces.posts.addUnder(s.key.Namespace)
		x.slots.push(x.keysEpoch.gen, s)
		x.objects.push(x.objectsEpoch.gen, s.object)
		for _, index := range x.indexes {
			index.add()
			index.assign(pos, staged)
		}
		return append(dst, Event[T]{Type: Added, Reason: reason, New: s.object})
	}
	stored := &x.slots.own(x.keysEpoch.gen, pos>>pageBits)[pos&pageMask].object
	old := *stored
	*stored = s.object
	x.objects.set(x.objectsEpoch.gen, pos, s.object)
	for _, index := range x.indexes {
		index.assign(pos, staged)
	}
	if x.recreated != nil && x.recreated(old, s.object) {
		return append(dst,
			Event[T]{Type: Deleted, Reason: Recreated, Old: old, New: old},
			Event[T]{Type: Added, Reason: Recreated, New: s.object})
	}
	return append(dst, Event[T]{Type: Updated, Reason: reason, Old: old, New: s.object})
}

// remove takes out the object at pos; the last object moves there.
func (x *Indexer[T]) remove(pos, hash uint32) {
	gen := x.keysEpoch.gen
	x.keys.remove(gen, hash, pos)
	if last := x.objects.n - 1; last != pos {
		moved := x.slots.at(last)
		x.keys.move(gen, hashKey(x.seed, moved.key), last, pos)
		x.slots.set(gen, pos, moved)
		x.objects.set(x.objectsEpoch.gen, pos, moved.object)
	}
	x.slots.pop(gen)
	x.objects.pop(x.objectsEpoch.gen)
	x.namespaces.remove(pos)
	for _, index := range x.indexes {
		index.remove(pos)
	}
}
