package main

// storeAndIndex are bugs of what stands between a source and the store, and of that.
var storeAndIndex = foundBy(informers, []mutation{{
	bug: "deltas are taken in the opposite order",
	in:  "queue.DeltaFIFO.Add",
	old: "	q.queued = append(q.queued, d)\n",
	new: "	q.queued = append([]Delta[T]{d}, q.queued...)\n",
}, {
	bug: "deltas beyond the limit are dropped",
	in:  "queue.DeltaFIFO.Add",
	old: "	for q.limit > 0 && len(q.queued) >= q.limit && !q.closed {\n		q.room.Wait()\n	}\n",
	new: "	if q.limit > 0 && len(q.queued) >= q.limit {\n		q.mu.Unlock()\n		return\n	}\n",
}, {
	bug:   "a list drops the deltas that wait",
	in:    "queue.DeltaFIFO.Replace",
	old:   "	q.Add(Delta[T]{Type: Replace, List: &list, ResourceVersion: version})\n",
	new:   "	q.mu.Lock()\n	q.queued = nil\n	q.mu.Unlock()\n	q.Add(Delta[T]{Type: Replace, List: &list, ResourceVersion: version})\n",
	suite: tests("queue", "TestTakeReturnsAllInOrder"),
}, {
	bug: "a list keeps what it does not have",
	in:  "index.Indexer.Replace",
	old: "			dst = f.merge(dst, gone, list, x.batch.located, reason)\n		}\n	}\n",
	new: "			dst = f.merge(dst, nil, list, x.batch.located, reason)\n		}\n	}\n",
}, {
	bug: "handlers are not told what a list does not have",
	in:  "index.Indexer.Replace",
	old: "		dst = x.appendDeleted(dst, gone, reason)\n		if none {\n",
	new: "		if none {\n",
}, {
	bug:   "a change is made after the bookmark that follows it",
	in:    "typed.loop.process",
	old:   "		case queue.Bookmark:\n		case queue.Replace:\n",
	new:   "		case queue.Bookmark:\n			l.informer.store.SetResourceVersion(d.ResourceVersion)\n			l.reached(d.ResourceVersion)\n		case queue.Replace:\n",
	suite: own,
}, {
	bug: "changes that wait are made after the list that follows them",
	in:  "typed.loop.process",
	old: "			l.flush(version)\n			version = \"\"\n			l.replace(",
	new: "			l.replace(",
}, {
	bug: "a deletion names the object as it was sent, not the one of the store, as the one before",
	in:  "index.Indexer.appendChange",
	old: "	case found:\n		return append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: old, New: c.Object})\n",
	new: "	case found:\n		return append(dst, Event[T]{Type: Deleted, Reason: c.Reason, Old: c.Object, New: c.Object})\n",
}, {
	bug: "the second of two changes of a batch does not know of the first one if that is the very first",
	in:  "index.Indexer.appendEvents",
	old: "before := b.noteLatest(i); before >= 0 {",
	new: "before := b.noteLatest(i); before > 0 {",
}, {
	bug: "positions of a batch count as fresh again after an update",
	in:  "index.Indexer.makeLocked",
	old: "		stale = stale || at.found == c.Delete\n",
	new: "		stale = at.found == c.Delete\n",
}, {
	bug: "an update leaves the old object in lists",
	in:  "index.Indexer.put",
	old: "		x.objects.set(&x.objectsEpoch, at.pos, obj)\n",
	new: "",
}, {
	bug:   "an update leaves the old object to those who get it by its key",
	in:    "index.Indexer.put",
	old:   "		x.keys.setObject(&x.keysEpoch, at.hash, at.pos+1, obj)\n",
	new:   "		_ = at\n",
	suite: reads,
}, {
	bug: "the object that takes the place of a deleted one keeps its number in lists only",
	in:  "index.Indexer.remove",
	old: "		x.keys.setPlace(e, hash, last+1, pos+1)\n",
	new: "		_ = hash\n",
}, {
	bug: "an object stays under the index key that it had before",
	in:  "index.postings.assign",
	old: "		s.unlink(m)\n		m = member{}\n",
	new: "		m = member{}\n",
}, {
	bug: "an index does not know that the last object has moved",
	in:  "index.postings.remove",
	old: "			if p := s.posts.ref(m.id); p.list == nil {\n				s.posts.change(&s.shape, m.id).one = pos\n			} else {",
	new: "			if p := s.posts.ref(m.id); p.list != nil {",
}, {
	bug: "a write changes what a snapshot has",
	in:  "index.vector.own",
	old: "	if v.gens[p] == e.gen {\n		return v.table[p]\n	}\n	v.ownTable(e)\n	v.table[p] = append(make([]E, 0, cap(v.table[p])), v.table[p]...)\n",
	new: "	v.ownTable(e)\n",
}, {
	bug:   "the index of namespaces keeps those that are gone",
	in:    "index.Indexer.compact",
	old:   "	x.compactIndex(x.namespaces)\n",
	new:   "",
	suite: tests("index", "TestIndexerGivesBack"),
}, {
	bug:   "values are compared by == though an interface in them holds a slice",
	in:    "index.sameValue",
	old:   "same = deepEqual(a, b)\n",
	new:   "same = false\n",
	suite: tests("index", "TestSameOfValuesWithInterfaces"),
}})
